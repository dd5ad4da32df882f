// ---- sliders: logarithmic, α by its distance from one and odds by their logarithm ------------------------------

const scales = {
  epsilon: { low: 0.01, high: 10, from: (v) => v, to: (v) => v },
  alpha: { low: 0.05, high: 63, from: (v) => v - 1, to: (v) => v + 1 },
  odds: { low: Math.log(1.05), high: Math.log(50), from: Math.log, to: Math.exp },
  delta: { low: 1e-9, high: 1e-2, from: (v) => v, to: (v) => v },
};
const symbols = { epsilon: "ε", alpha: "α", odds: "The odds", delta: "δ" };

function toSlider(name, value) {
  const { low, high, from } = scales[name];
  const x = Math.min(Math.max(from(value), low), high);
  return Math.round((1000 * Math.log(x / low)) / Math.log(high / low));
}

function fromSlider(name, place) {
  const { low, high, to } = scales[name];
  return Number(to(low * (high / low) ** (place / 1000)).toPrecision(3));
}

const number = (id) => ($(id).value.trim() === "" ? NaN : Number($(id).value));

function setNumber(name, value) {
  $(name).value = value;
  $(`${name}-slider`).value = toSlider(name, Number(value));
  $(`${name}-slider`).setAttribute("aria-valuetext", String(value));
}

// A number out of range is told where it stands, and nothing is asked.
function validNumbers(limits) {
  let good = true;
  for (const name of Object.keys(scales)) {
    const [low, high] = limits[name];
    const value = number(name);
    const used = !$(`${name}-field`).hidden;
    const fine = !used || (value >= low && value <= high);
    $(name).setAttribute("aria-invalid", String(!fine));
    $(`${name}-problem`).textContent = fine ? "" : `${symbols[name]} must be a number from ${low} to ${high}.`;
    good = good && fine;
  }
  return good;
}

function listenToSliders(moved, typed) {
  for (const name of Object.keys(scales)) {
    const slider = $(`${name}-slider`);
    const speak = () => slider.setAttribute("aria-valuetext", $(name).value);
    slider.addEventListener("input", () => { $(name).value = fromSlider(name, Number(slider.value)); speak(); moved(); });
    $(name).addEventListener("input", () => {
      if (number(name) > 0) slider.value = toSlider(name, number(name));
      speak();
      typed();
    });
  }
}
