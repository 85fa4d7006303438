// The chosen theme, before the first paint. The page itself takes over from here.
(function () {
  var theme = null;
  try {
    theme = localStorage.getItem("headroom.theme");
  } catch (e) {
    // Storage can be forbidden; the system's theme is then the answer.
  }
  if (theme === "light" || theme === "dark") {
    document.documentElement.setAttribute("data-theme", theme);
  }
})();
