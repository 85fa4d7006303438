// Recorded traffic: a file is chosen or dropped, its requests take the place of the drawn ones, and
// whatever is wrong with a file is told.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { launch } from "./browser.mjs";
import {
  PATIENCE_MS,
  answer,
  kneeTable,
  noComplaints,
  open,
  plain,
  settled,
  type,
  unfold,
} from "./page.mjs";

const { source: axe } = createRequire(import.meta.url)("axe-core");
const golden = (name) => fileURLToPath(new URL(`../golden/${name}`, import.meta.url));
const RATE_1 = golden("roofline/roofline_rate1.csv");
const AZURE = golden("traces/azure_2023_conv_first2000.csv.gz");
const MOONCAKE = golden("traces/mooncake_synthetic_first150.jsonl");
const PHONE = { width: 390, height: 844 };

let browser;
let folder;
before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), "headroom-recording-"));
});
after(async () => {
  await browser?.close();
  if (folder) await rm(folder, { recursive: true });
});

const group = (page) => page.locator(".fold", { hasText: "Recorded traffic" });
const summary = async (page) => plain(await group(page).locator(".fold-summary").textContent());
const facts = async (page) =>
  Object.fromEntries(
    await page.locator(".recorded dl > div").evaluateAll((rows) =>
      rows.map((row) => [row.children[0].textContent, row.children[1].textContent.replace(/\s+/gu, " ")]),
    ),
  );

/** Chooses a file as a person does, and waits until it is the recording. */
async function choose(page, path) {
  await unfold(page, "Recorded traffic");
  const chooser = page.waitForEvent("filechooser");
  await page.locator(".drop-zone").click();
  await (await chooser).setFiles(path);
}

const taken = (page) => page.locator(".recorded dl").waitFor({ timeout: PATIENCE_MS });

/** A file of these bytes, under a name of its own. */
async function file(name, bytes) {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

/** What the page says of a file that it cannot use. */
async function refusal(page, path) {
  await choose(page, path);
  const message = group(page).locator(".fold-body > .control-message[data-kind=invalid]");
  await message.waitFor({ timeout: PATIENCE_MS });
  return plain(await message.textContent());
}

async function graveViolations(page) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.target).join(", ")}`);
}

/** The command line's document. Where nothing meets the target it ends with 1, and says so in it. */
function native(args) {
  const options = { encoding: "utf8", maxBuffer: 1 << 28 };
  try {
    return JSON.parse(execFileSync(process.env.HEADROOM_CLI, [...args, "--json"], options));
  } catch (error) {
    if (error.status !== 1) throw error;
    return JSON.parse(error.stdout);
  }
}

test("the published arrivals give the command line’s answer, found by mouse", async () => {
  const { context, page, complaints } = await open(browser);
  await choose(page, RATE_1);
  await taken(page);
  assert.match(await summary(page), /^roofline_rate1\.csv, [\d,]+ requests$/);
  const field = page.locator("#field-recorded-at");
  await field.fill("1");
  await field.press("Enter");
  await settled(page, 1);
  const expected = native(["plan", "--trace", RATE_1, "--trace-rate", "1"]);
  assert.ok(Math.abs(expected.capacity_per_s.value - 22.56) < 0.005, "the published capacity");
  const told = await answer(page);
  assert.equal(told.hero, "6");
  assert.equal(told.hero, String(expected.verdict.gpus));
  assert.match(JSON.stringify(told), /5 would do/);
  assert.match(JSON.stringify(told), /22\.6 req\/s/);
  const rows = await kneeTable(page);
  assert.equal(rows.length, expected.knee.length);
  // What is drawn has no say any more.
  for (const id of ["in", "out", "pattern"]) {
    assert.ok(!(await page.locator(`#control-${id}`).isVisible()), id);
  }
  // Another rate is the same recording, faster.
  await type(page, "rate", "40");
  await settled(page, 1);
  assert.equal((await answer(page)).hero, "3");
  await page.getByRole("button", { name: "Remove" }).click();
  await settled(page);
  assert.equal(await summary(page), "none");
  assert.ok(await page.locator("#control-in").isVisible());
  noComplaints(complaints);
  await context.close();
});

test("by keyboard, packed, and told what was understood", async () => {
  const { context, page, complaints } = await open(browser);
  await page.locator(".fold-button", { hasText: "Recorded traffic" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "recording-file");
  const chooser = page.waitForEvent("filechooser");
  await page.keyboard.press("Space");
  await (await chooser).setFiles(AZURE);
  await taken(page);
  const told = await facts(page);
  assert.equal(told.Requests, "2,000");
  assert.match(told["Time span"], /min/);
  assert.match(told.Prompt, /tokens on average; P50/);
  assert.match(plain(await page.locator(".recorded").textContent()), /Unpacked with gzip\./);
  await settled(page, 1);
  assert.deepEqual(await graveViolations(page), []);
  noComplaints(complaints);
  await context.close();
});

test("a dropped file counts wherever it falls, and a link is not enough for it", async () => {
  const { context, page, complaints } = await open(browser);
  const bytes = [...(await readFile(MOONCAKE))];
  const files = await page.evaluateHandle((bytes) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], "mooncake.jsonl"));
    return transfer;
  }, bytes);
  for (const event of ["dragover", "drop"]) {
    await page.locator(".knee").dispatchEvent(event, { dataTransfer: files });
  }
  await taken(page);
  assert.equal((await facts(page)).Format, "Mooncake trace");
  await settled(page, 1);
  await page.getByRole("button", { name: "Copy link" }).click();
  const toast = page.locator(".toast", { hasText: "too big for a link" });
  assert.match(
    plain(await toast.textContent()),
    /^This scenario is too big for a link \(it holds a trace of 150 requests\)\. ?Save as file$/,
  );
  const download = page.waitForEvent("download");
  await toast.getByRole("button", { name: "Save as file" }).click();
  const saved = await download;
  assert.equal(saved.suggestedFilename(), "mooncake.headroom.csv");
  const path = join(folder, "mooncake.headroom.csv");
  await saved.saveAs(path);
  noComplaints(complaints);
  await context.close();

  // The file brings recording and settings back, here and on the command line.
  const again = await open(browser, "v=1&rate=7");
  await choose(again.page, path);
  await taken(again.page);
  await type(again.page, "ttft", "60 s");
  await settled(again.page, 1);
  assert.equal(await again.page.locator("#control-rate input[type=text]").inputValue(), "100");
  const [, recorded] = /^# headroom recorded=([\d.]+)&/.exec(await readFile(path, "utf8"));
  const args = ["plan", "--trace", path, "--trace-rate", recorded, "ttft=60s"];
  const expected = native(args);
  assert.equal((await answer(again.page)).hero.replaceAll(",", ""), String(expected.verdict.gpus));
  noComplaints(again.complaints);
  await again.context.close();
});

test("hostile files end in a message that names them, and the answer stays", async () => {
  const { context, page, complaints } = await open(browser);
  const before = await answer(page);
  const table = "arrival_s,input_tokens,output_tokens\n";
  const noise = Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 2654435761) >>> 24));
  const cases = [
    ["empty.csv", "", /“empty\.csv” is empty; choose a file/],
    ["blank.csv", " \n\n", /“blank\.csv” is empty/],
    ["noise.bin", noise, /noise\.bin”.*(no column|holds|is )/],
    ["cut.csv.gz", gzipSync(await readFile(RATE_1)).subarray(0, 900), /cannot be unpacked/],
    ["sheet.xlsx", Buffer.from("PK\x03\x04rest"), /a zip archive or a spreadsheet; unpack it, or save/],
    ["names.csv", "when,what\n1,2\n", /line 1: no column for .*Name the columns in the first line/],
    ["values.csv", `${table}1,many,5\n`, /line 2: input_tokens is “many”/],
    ["same.csv", `${table}1,5,5\n1,5,5\n`, /arrive at the same time.*Give them times that differ/],
    ["cut.json", '[{"timestamp": 1,', /line 1, column \d+: not valid JSON/],
    ["rates.csv", await readFile(golden("traces/own_rates.csv")), /say what it tells as settings instead: rate, profile=points/],
  ];
  for (const [name, bytes, wanted] of cases) {
    assert.match(await refusal(page, await file(name, bytes)), wanted, name);
  }
  assert.deepEqual(await answer(page), before);
  assert.equal(await summary(page), "none");
  // In UTF-16, as spreadsheets export it; a bad row is left out, and told.
  const rows = `${table}0,100,20\n1,x,20\n2,100,20\n9,200,30\n`;
  await choose(page, await file("utf16.csv", Buffer.from(`\ufeff${rows}`, "utf16le")));
  await taken(page);
  const said = plain(await page.locator(".recorded").textContent());
  assert.match(said, /Decoded from UTF-16\./);
  assert.match(said, /1 of 4 rows left out/);
  assert.match(said, /Line 3: input_tokens is “x”/);
  assert.equal((await facts(page)).Requests, "3");
  // A bad one after a good one: the good one stays.
  await refusal(page, await file("again.csv", "a,b\n1,2\n"));
  assert.equal((await facts(page)).Requests, "3");
  noComplaints(complaints);
  await context.close();
});

test("a hundred megabytes are read, or refused in words, while the page goes on", async () => {
  const { context, page, complaints } = await open(browser);
  const line = (i) => `${(i * 0.01).toFixed(2)},${100 + (i % 50)},${20 + (i % 9)}\n`;
  const block = Array.from({ length: 1_000 }, (_, i) => line(i)).join("");
  const path = join(folder, "large.csv");
  const parts = ["arrival_s,input_tokens,output_tokens\n"];
  for (let size = 0; size < 100e6; size += block.length) parts.push(block);
  await writeFile(path, parts.join(""));
  await choose(page, path);
  const said = page.locator(".recorded dl, .fold-body > .control-message[data-kind=invalid]");
  await said.first().waitFor({ timeout: PATIENCE_MS });
  // The page itself was never held up.
  await page.locator(".fold-button", { hasText: "Accuracy" }).click();
  assert.ok(await page.locator("#control-seed").isVisible());
  assert.ok(!complaints.some((text) => text.startsWith("uncaught")), complaints.join("\n"));
  await context.close();
});

test("prefill and decode pools stand beside the same replicas doing both", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=60&sim.requests=2000");
  assert.equal(await page.locator(".pools").count(), 0);
  await type(page, "pool-prefill", "2");
  await type(page, "pool-decode", "2");
  const cells = page.locator(".pools tbody tr");
  await cells.first().waitFor({ timeout: PATIENCE_MS });
  const rows = Object.fromEntries(
    await cells.evaluateAll((all) =>
      all.map((row) => [...row.children].map((cell) => cell.textContent.replace(/\s+/gu, " "))).map(
        ([name, ...rest]) => [name, rest],
      ),
    ),
  );
  const run = native(["simulate", "rate=60", "sim.requests=2000", "disagg.prefill=2", "disagg.decode=2"]);
  const seconds = (text) => Number.parseFloat(text) / (text.endsWith("ms") ? 1e3 : 1);
  const near = (text, value) => assert.ok(Math.abs(seconds(text) - value) <= 0.01 * value, `${text} ${value}`);
  near(rows["TTFT P99"][0], run.ttft.p99_s);
  near(rows["TTFT P99"][1], run.pools.together.ttft.p99_s);
  near(rows["ITL P99"][0], run.itl.p99_s);
  near(rows["ITL P99"][1], run.pools.together.itl.p99_s);
  assert.match(plain(await page.locator(".pools").textContent()), /2 prefill replicas were busy for/);
  // Another link changes them; an engine that cannot be told apart says why.
  const before = await page.locator(".pools").textContent();
  await type(page, "kv-link", "5");
  await page.waitForFunction((old) => document.querySelector(".pools").textContent !== old, before);
  assert.deepEqual(await graveViolations(page), []);
  await page.evaluate(() => {
    location.hash = "#v=1&rate=60&disagg.prefill=2&disagg.decode=2&overload.queue_limit=50";
  });
  await page.locator(".pools-refused", { hasText: "no queue limits" }).waitFor({ timeout: PATIENCE_MS });
  noComplaints(complaints);
  await context.close();
});

test("the knee of a closed loop is told by its users", async () => {
  const { context, page, complaints } = await open(browser, "v=1&arrivals=closed(500,10s)&sim.requests=1000");
  await page.locator(".knee .panel-actions button", { hasText: "Table" }).click();
  const head = page.locator(".knee thead th");
  await head.first().waitFor();
  assert.deepEqual((await head.allTextContents()).slice(0, 2), ["Users", "Requests per second"]);
  const users = await page.locator(".knee tbody th").allTextContents();
  const numbers = users.map((text) => Number(text.replaceAll(",", "")));
  assert.ok(numbers.length > 5 && numbers.every(Number.isInteger), users.join(" "));
  assert.deepEqual(numbers, numbers.toSorted((a, b) => a - b));
  noComplaints(complaints);
  await context.close();
});

test("on a phone: the group, its file and its facts, without a complaint of axe", async (t) => {
  const { context, page, complaints } = await open(browser, "", { viewport: PHONE, hasTouch: true });
  const grip = page.locator(".sheet-grip");
  await grip.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.locator(".side[data-stop=full]").waitFor();
  await choose(page, AZURE);
  await taken(page);
  await settled(page, 1);
  assert.deepEqual(await graveViolations(page), []);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.ok(!wide, "the page scrolls sideways");
  noComplaints(complaints);
  await context.close();
});

test("after a reload the page says that the recording has to be chosen again", async () => {
  const { context, page, complaints } = await open(browser);
  await choose(page, RATE_1);
  await taken(page);
  await settled(page, 1);
  await page.reload();
  await settled(page);
  const notice = page.locator(".cautions");
  assert.match(plain(await notice.textContent()), /The recording roofline_rate1\.csv went with the page/);
  assert.equal(await summary(page), "roofline_rate1.csv: choose it again");
  // Other settings do not take the word back; the file does.
  await type(page, "rate", "60");
  await settled(page);
  await notice.waitFor();
  await choose(page, RATE_1);
  await taken(page);
  await settled(page, 1);
  assert.equal(await notice.count(), 0);
  // It is told once more after another reload, until it has been read.
  await page.reload();
  await settled(page);
  await notice.getByRole("button", { name: "Dismiss" }).click();
  assert.equal(await notice.count(), 0);
  assert.equal(await summary(page), "none");
  await page.reload();
  await settled(page);
  assert.equal(await notice.count(), 0);
  noComplaints(complaints);
  await context.close();
});

test("a fresh worker has the recording again", async () => {
  const { context, page } = await open(browser);
  await choose(page, RATE_1);
  await taken(page);
  await settled(page, 1);
  const before = await answer(page);
  const [worker] = page.workers();
  await worker.evaluate(() => setTimeout(() => self.provoke_panic(), 0)).catch(() => {});
  await page.locator(".toast", { hasText: "A fresh worker started by itself" }).waitFor();
  await settled(page, 1);
  assert.deepEqual(await answer(page), before);
  await type(page, "rate", "50");
  await settled(page, 1);
  assert.notEqual((await answer(page)).hero, before.hero);
  await context.close();
});
