"""Certificates for 127.0.0.1 made with the openssl program: good, expired, not yet valid, for another name."""

import subprocess

CONFIG = """
[ca]
default_ca = own
[own]
new_certs_dir = {folder}
database = {folder}/index
serial = {folder}/serial
default_md = sha256
policy = any
x509_extensions = leaf
[any]
commonName = supplied
[leaf]
subjectAltName = {names}
basicConstraints = critical, CA:true
"""

DATES = {
    "good": ("20200101000000Z", "20991231000000Z"),
    "expired": ("20200101000000Z", "20200102000000Z"),
    "not_yet": ("20980101000000Z", "20991231000000Z"),
    "other_name": ("20200101000000Z", "20991231000000Z"),
}


def make(folder, kind):
    """Return (certificate file, key file) of one kind; the certificate is its own authority."""
    folder.mkdir()
    names = "DNS:other.example" if kind == "other_name" else "IP:127.0.0.1, DNS:localhost"
    (folder / "ca.cnf").write_text(CONFIG.format(folder=folder, names=names))
    (folder / "index").write_text("")
    (folder / "serial").write_text("01")
    key, request, certificate = (str(folder / name) for name in ("key.pem", "request.pem", "certificate.pem"))
    _openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", key, "-out", request, "-subj", "/CN=test")  # fmt: skip
    start, end = DATES[kind]
    _openssl("ca", "-batch", "-selfsign", "-config", str(folder / "ca.cnf"), "-keyfile", key, "-in", request,
             "-out", certificate, "-startdate", start, "-enddate", end, "-notext")  # fmt: skip
    return certificate, key


def _openssl(*argv):
    subprocess.run(["openssl", *argv], check=True, capture_output=True)
