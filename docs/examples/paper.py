import takifugu as tk

no = tk.Mixture([0.7, 0.3], [10.5, 13.0], [3.0, 2.0])  # believed of those without
priors = {"no": no, "yes": tk.Mixture.gaussian(9.4, 2.8)}  # of those with
calibration = tk.calibrate(priors, alpha=3, epsilon=0.2)  # the least noise
certificate = tk.certify(calibration)  # proved for both directions
print(f"θ = {calibration.theta:.4f}")
print(f"loss ≤ {max(loss.upper for loss in certificate.losses):.6f}")
