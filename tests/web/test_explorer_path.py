"""From a messy file to a published table, in a browser: every step of a stranger, and every file that is left."""

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browser import DESKTOP, PHONE, Visit, opened
from click.testing import CliRunner
from explorer_process import Explorer
from people import write_messy
from playwright.sync_api import Browser, Page, Route

import takifugu as tk
from takifugu.cli import main

# WCAG 2.1: 4.5 to 1, and 3 to 1 for large letters, of every text that is seen and can be used.
_FAINT = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a)];
  const ground = (one) => {
    if (!one) return parts(getComputedStyle(document.body).backgroundColor);
    const [r, g, b, a = 1] = parts(getComputedStyle(one).backgroundColor);
    return a === 1 ? [r, g, b] : over([r, g, b, a], ground(one.parentElement));
  };
  const linear = (v) => (v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => [r, g, b].map((v) => linear(v / 255))
    .reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
  const speaks = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const texts = [...document.querySelectorAll("body *")].filter((one) => speaks(one) && one.checkVisibility()
    && !one.disabled && !one.closest("svg, [inert], script, style, option"));
  const faint = texts.map((one) => {
    const style = getComputedStyle(one);
    const paper = ground(one);
    const [first, second] = [light(over(parts(style.color), paper)), light(paper)].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.7 && style.fontWeight >= 700);
    return [one.textContent.trim().slice(0, 40), (first + .05) / (second + .05), large ? 3 : 4.5];
  });
  return { faint: faint.filter(([, ratio, least]) => ratio < least), seen: faint.length };
}"""


def _looks_well(visit: Visit, name: str) -> None:
    """In light and dark: nothing to scroll sideways, and every text told from its ground."""
    page = visit.page
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        visit.picture(f"{name}-{scheme}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found = page.evaluate(_FAINT)
        assert (wide, found["faint"]) == (0, [])
        assert found["seen"] > 15
    page.emulate_media(color_scheme="light", reduced_motion="reduce")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_messy_file_becomes_a_published_table(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: dict[str, int]
) -> None:
    kind = str(size["width"])
    file = write_messy(tmp_path / "stays.csv")
    (home := tmp_path / "home").mkdir()
    running = Explorer.start(folder=home)
    try:
        with opened(browser, running.address, size=size, waiting=False) as visit:
            _looks_well(visit, f"path-{kind}-1-start")
            calibration = _walks(visit, file, tmp_path, kind)
            _finds_the_same(visit, file, tmp_path, monkeypatch, calibration)
    finally:
        running.stop()
    assert (home / "stays.ledger").exists()


def _walks(visit: Visit, file: Path, folder: Path, kind: str) -> tk.Calibration:
    page = visit.page
    page.locator("#file").set_input_files(file)
    page.locator("#drop-note").filter(has_text="stays.csv is open").wait_for()
    assert page.locator("#reading-sentinels").input_value() == "stay_days=999"
    page.get_by_label("Capitals and blanks").select_option("yes")
    assert "before you read the file again" in visit.text("#reading-suspects")
    _looks_well(visit, f"path-{kind}-2-reading")
    page.get_by_label("Labels to merge").fill("rare=HIV, Sickle cell")
    page.locator("#read-again").click()
    page.locator("#table-note").filter(has_text="30 rows of 'diagnosis' became 'rare'").wait_for()
    assert "13 rows had a declared sentinel" in visit.text("#table-note")
    # Which column is the secret? Its rarest value stays out.
    visit.choose("Secret column", "diagnosis")
    page.locator("#leave-out-field summary").click()
    asked = visit.tick("leave-out", "rare (30 rows)")
    assert (asked["pair"], asked["leave_out"]) == (None, ["rare"])
    assert "Each of 3 values" in visit.text("#pair-note")
    # What may go out? Two columns, one of them through a list of its own.
    visit.tick("columns", "ward")
    visit.tick("columns", "stay_days")
    page.locator("#lists-field summary").click()
    page.get_by_label("list of stay_days", exact=True).fill("0, 2, 4, 6, north")
    page.locator("#problem-here:not(:empty)").wait_for()  # beside the question that it is about
    assert page.locator("#ask-out #problem-here").count() == 1
    page.get_by_label("list of stay_days", exact=True).fill("0, 2, 4, 6, 8")
    asked = visit.settle()
    assert visit.text("#problem-here") == ""
    assert asked["lists"] == {"stay_days": "0, 2, 4, 6, 8"}
    # Who is the adversary? One of the population, by default. How much may he learn?
    assert (asked["confidence"], asked["odds"]) == (0.95, 3)
    visit.type_number("odds, the factor, as a number", "2.5")
    assert "odds between two values of 'diagnosis'" in visit.text("#guarantee")
    assert "factor of 2.5" in visit.text("#guarantee")
    for part in ("stay_days", "Would never be output", "What would survive"):
        assert part in visit.text("#changes")
    assert page.locator("#chart-survival svg").count() == 1
    _looks_well(visit, f"path-{kind}-3-answer")
    return _publishes(visit, folder, kind)


def _publishes(visit: Visit, folder: Path, kind: str) -> tk.Calibration:
    page = visit.page
    assert not page.locator("#get-statement").is_visible()
    page.get_by_role("button", name="Publish the table…").click()
    dialog = page.get_by_role("dialog", name="Publish this table?")
    dialog.wait_for()
    assert "Rows whose diagnosis is rare stay out" in dialog.inner_text()
    _looks_well(visit, f"path-{kind}-4-confirm")
    dialog.get_by_label(re.compile("I have read this")).check()
    with page.expect_download() as waiting:
        dialog.get_by_role("button", name="Publish and save").click()
    waiting.value.save_as(folder / "published.csv")
    _looks_well(visit, f"path-{kind}-5-published")
    saved = {name: visit.save(name, folder) for name in ("Statement", "Public certificate", "Report", "Calibration")}
    auditors = visit.save("Certificate for an auditor", folder)
    certificate = tk.verify(auditors)
    lines = (folder / "published.csv").read_text().splitlines()
    assert lines[0] == '"ward","stay_days"'
    assert {line.partition(",")[2] for line in lines[1:]} <= {"0", "2", "4", "6", "8"}
    for name in ("Statement", "Public certificate"):  # an auditor holds what is public against the proof
        result = CliRunner().invoke(main, ["verify", str(auditors), "--public", str(saved[name])])
        assert result.exit_code == 0, result.output
    statement = json.loads(saved["Statement"].read_text())
    assert statement["rows"] == len(lines) - 1
    assert 1100 < statement["rows"] < 1170  # without the rare, and without those whose stay nobody knows
    public = json.loads(saved["Public certificate"].read_text())
    assert public["certificate_sha256"] == certificate.sha256
    assert "rare" not in saved["Public certificate"].read_text()
    assert certificate.sha256 in saved["Report"].read_text()
    return tk.Calibration.load(saved["Calibration"])


def _finds_the_same(
    visit: Visit, file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, made: tk.Calibration
) -> None:
    """The notebook runs, the plan too, and both go through the very channel of the page."""
    notebook, plan = visit.save("Notebook", folder), visit.save("Plan for the command line", folder)
    command = visit.text("#command")
    for part in ("--tidy", "--merge 'rare=hiv, sickle cell'", "--leave-out rare", '--domain \'{"stay_days": [0, 2,'):
        assert part in command
    for place in ("by-notebook", "by-plan"):
        (folder / place).mkdir()
        (folder / place / "stays.csv").write_bytes(file.read_bytes())
        monkeypatch.chdir(folder / place)
        if place == "by-plan":
            words = ["publish", "stays.csv", "published.csv", "--plan", str(plan), "--quiet"]
            result = CliRunner().invoke(main, words)
            assert result.exit_code == 0, result.output
            found = tk.Calibration.load("published-calibration.json")
        else:
            found = run_notebook(notebook)["calibration"]
            assert tk.verify("published-certificate.json").sha256
            assert Path("published.csv").exists()
            assert Path("published-statement.json").exists()
        assert found.channel == made.channel
        assert found.guarantee == made.guarantee


def run_notebook(path: Path) -> dict[str, Any]:
    """The names that a notebook leaves, once its own reader has found it to be one."""
    held = nbformat.read(path, as_version=4)
    nbformat.validate(held)
    names: dict[str, Any] = {}
    for cell in held.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, "cell", "exec"), names)
    return names


# What a change makes out of date can neither be taken nor published, however late its answer comes.


@pytest.fixture(scope="module")
def visit(browser: Browser, explorer: Explorer) -> Any:
    with opened(browser, explorer.quick) as visit:
        yield visit


def _held(page: Page, path: str) -> list[Route]:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(f"**/api/{path}", hold)
    return held


def _wait_for(page: Page, held: list[Route], count: int = 1) -> None:
    while len(held) < count:
        page.wait_for_timeout(20)


def test_what_is_shown_is_out_of_date_from_the_moment_of_a_change(visit: Visit) -> None:
    page = visit.page
    held = _held(page, "answer")
    page.get_by_label("Mechanism", exact=True).select_option("laplace")
    assert page.locator("#answer").evaluate("one => one.inert")  # before anything is asked
    page.locator("#outdated").filter(has_text="Out of date").wait_for()
    _wait_for(page, held)
    # A second question while the first is in flight: the first answer comes last, and is never shown.
    page.get_by_label("Mechanism", exact=True).select_option("closed-form")
    _wait_for(page, held, 2)
    held[1].continue_()
    question = visit.settle()
    seen = visit.text("#theta"), visit.text("#command")
    held[0].continue_()
    page.wait_for_timeout(1500)
    assert (visit.text("#theta"), visit.text("#command")) == seen
    assert question["mechanism"] == "closed-form"
    assert "--mechanism closed-form" in seen[1]
    assert not page.locator("#outdated").is_visible()
    assert not page.locator("#answer").evaluate("one => one.inert")
    page.unroute("**/api/answer")
    visit.choose("Mechanism", "exact")


@pytest.mark.parametrize("path", ["publication", "download/report"])
def test_what_was_asked_for_before_a_change_is_not_handed_out_after_it(visit: Visit, path: str) -> None:
    page = visit.page
    held = _held(page, path)
    page.get_by_role("button", name="Publish the table…" if path == "publication" else "Report", exact=True).click()
    _wait_for(page, held)
    visit.slide("ε, the budget", 300 if path == "publication" else 350)
    held[0].continue_()
    page.locator("#saved").filter(has_text="The question was changed meanwhile").wait_for()
    assert not page.get_by_role("dialog").is_visible()
    page.unroute(f"**/api/{path}")


def test_a_list_that_is_being_typed_puts_the_old_answer_out_of_date(browser: Browser, explorer: Explorer) -> None:
    link = "table=heart&secret=slope&hide=1&hide=3&column=cp&query=row&promise=odds&odds=2"
    with opened(browser, f"{explorer.address}#{link}") as visit:
        page = visit.page
        page.locator("#lists-field summary").click()
        held = _held(page, "answer")
        page.get_by_label("list of cp", exact=True).press_sequentially("1, 2")
        assert page.locator("#answer").evaluate("one => one.inert")
        _wait_for(page, held)
        page.get_by_label("list of cp", exact=True).press_sequentially(", 3, 4")
        _wait_for(page, held, 2)
        for route in held:
            route.continue_()
        page.unroute("**/api/answer")
        assert visit.settle()["lists"] == {"cp": "1, 2, 3, 4"}
        assert "domain={'cp': [1, 2, 3, 4]}" in visit.text("#python")


def test_a_mean_is_published_within_odds(visit: Visit, tmp_path: Path) -> None:
    """`calibrate(Mean, odds=3)`, from the page: Laplace noise, and joined and (ε, δ) guarantees beside it."""
    visit.choose("Publish", "mean")
    question = visit.choose("Guarantee", "odds")
    assert (question["mechanism"], question["odds"]) == ("laplace", 3)
    priors = tk.fit_priors(tk.datasets.load("heart"), secret="slope", query=tk.Mean("oldpeak"), secrets=["1", "3"])
    expected = tk.calibrate(priors, odds=3, confidence=question["confidence"])
    assert tk.Calibration.load(visit.save("Calibration", tmp_path)).channel == expected.channel
    assert visit.text("#figure-before") == "b ="
    assert "Laplace law" in visit.text("#in-words")
    assert "hides whether the secret is 3 or 1: posterior odds change by at most a factor of 3" in visit.text(
        "#guarantee"
    )
    assert "∞" not in visit.text("#guarantee")
    options = visit.page.locator("#mechanism option:not([hidden])").all_inner_texts()
    assert "exact" not in options  # Gaussian noise bounds no odds, and is not offered
    assert visit.choose("Guarantee", "both").items() >= {"alpha": 3, "odds": 3}.items()
    question = visit.choose("Guarantee", "approximate")
    expected = tk.calibrate(
        priors, epsilon=question["epsilon"], delta=question["delta"], confidence=question["confidence"]
    )
    assert tk.Calibration.load(visit.save("Calibration", tmp_path)).channel == expected.channel
    assert "--delta 1e-05" in visit.text("#command")
    names = run_notebook(visit.save("Notebook", tmp_path))
    assert names["calibration"].channel == expected.channel
    _looks_well(visit, "path-noise")
