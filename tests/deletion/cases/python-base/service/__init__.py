"""Reads files whose names look like leftovers: documents, examples, a file named core."""
import pathlib

import django.conf
import docutils.core


def main():
    here = pathlib.Path(__file__).parent
    print((here / "core").read_text(), (here / "core.json").read_text())
    print((here / "docs" / "help.md").read_text(), (here / "examples" / "one.txt").read_text())
    print(docutils.core.publish_string("*a*", writer_name="html5")[:15])
    django.conf.settings.configure(TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}])
    print(django.VERSION[0])
