"""What the Inoculate tab does in the browser itself."""

COPY_LINK = """query => {
  if (!query.startsWith("?")) return query;
  const link = new URL(query, window.location.href).href;
  navigator.clipboard?.writeText(link);
  return link;
}"""
TO_CARD = '() => document.getElementById("outcome")?.scrollIntoView({block: "nearest"})'
LIVE = 'element.setAttribute("aria-live", "polite");'
"""Lets a component of HTML tell a screen reader what is new in it."""
ASK_TO_TELL = """async () => {
  const may = window.Notification ? await Notification.requestPermission() : "denied";
  const button = document.getElementById("tell");
  const told = may === "granted" ? "You will be told" : "The tab's title will say so";
  if (button) button.textContent = told;
}"""
TELL_THE_END = """ended => {
  const words = ended.split("|").pop();
  if (!words || !document.hidden) return;
  const title = document.title;
  document.title = "✓ Inoculation ended · " + title;
  document.addEventListener("visibilitychange", () => { document.title = title; }, {once: true});
  if (window.Notification?.permission !== "granted") return;
  new Notification("Inoculation ended", {body: words});
}"""
"""Says in the tab's title, and by a notification where it may, that the runs have ended."""
