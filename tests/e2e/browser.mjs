// A real browser on the built site, and everything it complains about.
//
// HEADROOM_URL       where the site is served
// HEADROOM_CHROMIUM  the browser's program
// HEADROOM_CLI       the native program, for comparison
// `cargo xtask test browser` sets them.

import { chromium } from "playwright-core";

/** The value of an environment variable that the test runner sets. */
function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`cargo xtask test browser\``);
  return value;
}

/** The site's address, with a slash at its end. */
export const siteUrl = required("HEADROOM_URL");

/** Starts the browser. The caller closes it. */
export function launch() {
  return chromium.launch({
    executablePath: required("HEADROOM_CHROMIUM"),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
}

/**
 * Opens an address of the site in a new page. `complaints` grows with each console error,
 * warning of the security policy, uncaught exception and request that failed. `prepare` gets the
 * page before it goes anywhere.
 */
export async function open(browser, path = "", contextOptions = {}, prepare = async () => {}) {
  const context = await browser.newContext(contextOptions);
  const page = await context.newPage();
  const complaints = [];
  const left = departures(page);
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    complaints.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    if (reason === "net::ERR_ABORTED" && left.now()) return;
    complaints.push(`request: ${request.url()} ${reason}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
  });
  await prepare(page);
  await page.goto(new URL(path, siteUrl).href);
  return { context, page, complaints };
}

/** Whoever leaves a page while it loads breaks its requests off: which requests that can explain. */
function departures(page) {
  const NEAR_MS = 1_000;
  let at = -Infinity;
  // An empty page is gone to without a request.
  const goto = page.goto.bind(page);
  page.goto = (...args) => {
    at = Date.now();
    return goto(...args);
  };
  // The request for the next page comes first, the breaking off of what is under way after it.
  page.on("request", (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) at = Date.now();
  });
  return { now: () => Date.now() - at < NEAR_MS };
}
