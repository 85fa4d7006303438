// The page as a person sees it: what the answer says, and when it has come to rest.

import assert from "node:assert/strict";
import { open as openAddress } from "./browser.mjs";

/** Long enough for a machine that is busy with other things. */
export const PATIENCE_MS = 60_000;

/** The same text with every kind of space as a plain one. */
export const plain = (text) => (text ?? "").replace(/\s+/gu, " ").trim();

/** Opens a link of the page and waits for the answer to come to rest. */
export async function open(browser, link = "", options = {}) {
  const { runs = 8, prepare, ...context } = options;
  const shape = { viewport: { width: 1440, height: 900 }, ...context };
  const opened = await openAddress(browser, link && `#${link}`, shape, prepare);
  opened.page.setDefaultTimeout(PATIENCE_MS);
  await settled(opened.page, runs);
  return opened;
}

/**
 * Waits until nothing runs and the answer, if there is one, comes from all its runs. A quick answer
 * during a drag comes from one run and is not at rest.
 */
export async function settled(page, runs = 8) {
  const atRest = (expected) => {
    const progress = document.querySelector(".answer .progress");
    const hero = document.querySelector(".answer .hero")?.textContent ?? "";
    if (document.querySelector(".answer .restart")) return false;
    if (progress?.dataset.on !== "false" || hero === "" || hero.includes("≈")) return false;
    const facts = [...document.querySelectorAll(".answer .fact")].at(-1);
    if (!facts) return true;
    return new RegExp(`\\b${expected} runs?\\b`).test(facts.textContent);
  };
  await page.waitForFunction(atRest, runs, { timeout: PATIENCE_MS });
}

/** Waits until the hero matches. */
export async function heroBecomes(page, pattern) {
  await page.waitForFunction(
    (source) => new RegExp(source, "u").test(document.querySelector(".answer .hero")?.textContent),
    pattern.source,
    { timeout: PATIENCE_MS },
  );
}

/** Everything the answer card says, with plain spaces. */
export async function answer(page) {
  const raw = await page.evaluate(() => {
    const text = (selector) => document.querySelector(`.answer ${selector}`)?.textContent ?? "";
    const facts = [...document.querySelectorAll(".answer .fact")].map((fact) =>
      [...fact.querySelectorAll("p")].map((line) => line.innerText),
    );
    const remedies = [...document.querySelectorAll(".answer .remedy")].map((remedy) =>
      [...remedy.querySelectorAll("span")].map((cell) => cell.textContent),
    );
    return {
      hero: text(".hero"),
      headline: text(".headline"),
      qualifier: text(".qualifier"),
      pill: text(".pill"),
      paragraph: text(".paragraph"),
      gauge: [...document.querySelectorAll(".gauge-labels > span")].map((s) => s.textContent),
      facts,
      remedies,
    };
  });
  const deep = (value) => (Array.isArray(value) ? value.map(deep) : plain(value));
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, deep(value)]));
}

/** The slider and the field of a control, and the line beneath it. */
export function control(page, id) {
  const group = page.locator(`#control-${id}`);
  return {
    group,
    slider: group.locator("input[type=range]"),
    field: group.locator("input[type=text], textarea"),
    message: group.locator(".control-message"),
  };
}

/** Types a value over the old one and finishes with Enter. */
export async function type(page, id, text) {
  const { field } = control(page, id);
  await field.fill(text);
  await field.press("Enter");
}

/** The link in the address bar once it holds `part`. */
export async function linkWith(page, part) {
  await page.waitForFunction(
    (wanted) => decodeURIComponent(location.hash).includes(wanted),
    part,
    { timeout: PATIENCE_MS },
  );
  return page.evaluate(() => location.hash.slice(1));
}

/** Rows of the knee's table, with plain spaces. Opens the table and closes it again. */
export async function kneeTable(page) {
  const toggle = page.locator(".knee .panel-actions button", { hasText: "Table" });
  await toggle.click();
  const rows = page.locator(".knee tbody tr");
  await rows.first().waitFor();
  const cells = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent)),
  );
  await toggle.click();
  return cells.map((row) => row.map(plain));
}

/** Fails with everything the browser complained about. */
export function noComplaints(complaints) {
  assert.deepEqual(complaints, [], "the browser complained");
}

/** Opens a group of controls. */
export async function unfold(page, name) {
  const fold = page.locator(".fold-button", { hasText: name });
  if ((await fold.getAttribute("aria-expanded")) === "false") await fold.click();
  return fold;
}

/** Chooses from a list that opens. */
export const choose = (page, id, label) =>
  page.locator(`#control-${id} select`).selectOption({ label });
