"""What is asked of any page that a learner opens: it shows, and does nothing."""

from __future__ import annotations

import re

import bs4

_ACTIVE = {
    "script", "iframe", "object", "embed", "form", "base", "link", "svg", "input", "textarea", "button", "audio", "video",
    "source", "template", "math", "frame", "frameset", "applet", "portal",
}  # fmt: skip


def what_runs(page: str) -> list[str]:
    """Whatever could run, load or cover something in a page of ours."""
    tree = bs4.BeautifulSoup(page, "html.parser")
    found = []
    for tag in tree.find_all(True):
        if tag.name in _ACTIVE:
            found.append(f"<{tag.name}>")
        if tag.name == "meta" and tag.find_parent("head") is None:
            found.append("<meta> in the body")
        if tag.name == "img" and not re.fullmatch(r"data:image/png;base64,[A-Za-z0-9+/=]+", str(tag.get("src"))):
            found.append(str(tag)[:100])
        if tag.name == "style" and tag.find_parent("head") is None:
            found.append("<style> in the body")
        for name, value in tag.attrs.items():
            if name.startswith("on") or re.search(r"(?i)javascript:|vbscript:|position:\s*fixed", str(value)):
                found.append(f"<{tag.name} {name}={str(value)[:60]!r}>")
            if name in ("href", "src", "action") and re.match(r"(?i)\s*(https?:)?//", str(value)):
                found.append(f"<{tag.name} {name}={str(value)[:60]!r}> leads elsewhere")
    if re.search(r"(?i)url\(|@import|expression\(", "".join(style.get_text() for style in tree.find_all("style"))):
        found.append("a style that loads something")
    policy = tree.find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    if policy is None or "default-src 'none'" not in str(policy["content"]) or "script-src" in str(policy["content"]):
        found.append("no policy that forbids scripts")
    return found
