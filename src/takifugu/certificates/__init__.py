"""Certificates: a calibration proved once, in a file from which anyone can prove it again."""

from takifugu.certificates.channel import ChannelCertificate
from takifugu.certificates.document import Certificate
from takifugu.certificates.proving import certify, load_redacted, verify
from takifugu.certificates.redacted_channel import RedactedChannel
from takifugu.certificates.redaction import RedactedCertificate

__all__ = [
    "Certificate",
    "ChannelCertificate",
    "RedactedCertificate",
    "RedactedChannel",
    "certify",
    "load_redacted",
    "verify",
]
