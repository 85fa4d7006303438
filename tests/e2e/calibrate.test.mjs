// Calibrate: files that were measured are understood, constants are fitted to them, and the scenario
// keeps them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open as openAddress } from "./browser.mjs";
import { linkWith, noComplaints, PATIENCE_MS, plain } from "./page.mjs";

const { source } = createRequire(import.meta.url)("axe-core");
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const folder = mkdtempSync(join(tmpdir(), "headroom-calibrate-"));

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

async function openCalibrate(options = {}, settings = "") {
  const shape = { viewport: DESK, ...options };
  const opened = await openAddress(browser, `#v=1&view=calibrate${settings}`, shape);
  opened.page.setDefaultTimeout(PATIENCE_MS);
  await opened.page.locator("#calibrate-file").waitFor({ state: "attached" });
  return opened;
}

const hero = async (page) => plain(await page.locator(".calibrate-hero").textContent());
const pill = (page, text) => page.locator(".calibrate-card .pill", { hasText: text }).waitFor();
const files = (page) =>
  page.locator(".calibrate-file").evaluateAll((all) =>
    all.map((it) => ({ refused: it.dataset.refused === "true", text: it.textContent })),
  );

/** Gives the page files of these names and contents. */
const give = (page, given) =>
  page
    .locator("#calibrate-file")
    .setInputFiles(
      Object.entries(given).map(([name, text]) => ({
        name,
        mimeType: "application/octet-stream",
        buffer: Buffer.from(text),
      })),
    );

/** Gives the sample and waits until it is fitted. */
async function fitSample(page) {
  await page.locator("#calibrate-sample").click();
  await pill(page, "Not in use yet");
}

/** The rows of a table, with plain spaces. */
const rows = async (page, card) => {
  const cells = await page
    .locator(`${card} tbody tr`)
    .evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent)),
    );
  return cells.map((row) => row.map(plain));
};

test("the sample is understood, fitted, used everywhere, undone and forgotten", async () => {
  const { context, page, complaints } = await openCalibrate();
  assert.match(await page.locator(".calibrate-command").textContent(), /^vllm bench serve .*--request-rate 100 /);
  await fitSample(page);
  const [, before, after] = (await hero(page)).match(/^([\d.]+) % → ([\d.]+) %$/);
  assert.ok(Number(before) > 20 && Number(after) < 2, await hero(page));
  const [file] = await files(page);
  assert.match(file.text, /sample made by the simulator\.csv.*table, 6 points/);
  const points = await rows(page, ".calibrate-points");
  assert.equal(points.length, 6);
  assert.ok(points.every((row) => row.at(-1) === "fitted"), JSON.stringify(points));
  const constants = await rows(page, ".calibrate-constants");
  const mfu = constants.find((row) => row[3] === "step.mfu");
  assert.ok(Math.abs(Number(mfu[2]) - 0.41) < 0.03, mfu.join(" "));
  const inked = await page.locator(".calibrate-chart canvas").evaluate((canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    return data.filter((value, at) => at % 4 === 3 && value > 0).length;
  });
  assert.ok(inked > 2_000, `${inked} pixels are drawn on`);

  await page.locator("#calibrate-use").click();
  const link = await linkWith(page, "step.calibrated_on=6");
  assert.match(link, new RegExp(`step\\.mfu=${mfu[2].replace(".", "\\.")}`));
  await pill(page, "In use");
  assert.ok(await page.locator("#calibrate-use").isDisabled());
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => !location.hash.includes("calibrated_on"));
  await page.getByRole("button", { name: "Redo" }).click();
  await linkWith(page, "step.calibrated_on=6");

  // A page that is opened by the link knows it without the files.
  const other = await openCalibrate({}, `&${link.replace(/(^|&)(v|view)=\w+/g, "").replace(/^&/, "")}`);
  assert.equal(await hero(other.page), "In use");
  await other.page.locator("#calibrate-forget").click();
  await other.page.waitForFunction(() => !location.hash.includes("step."));
  assert.equal(await hero(other.page), "Published constants");
  noComplaints([...complaints, ...other.complaints]);
  await other.context.close();
  await context.close();
});

test("page and command line find the same constants", async () => {
  const text = [
    "concurrency,input_tokens,output_tokens,requests,ttft_ms,tpot_ms",
    "1,500,100,10,21,8.4",
    "8,500,100,80,30,9.6",
    "48,500,100,480,70,15.1",
  ].join("\n");
  const path = join(folder, "curve.csv");
  writeFileSync(path, text);
  const native = JSON.parse(
    execFileSync(process.env.HEADROOM_CLI, ["calibrate", path, "--json"], { encoding: "utf8" }),
  );
  const { context, page, complaints } = await openCalibrate({}, "&rate=3&profile=daily(0.3)");
  await give(page, { "curve.csv": text });
  await pill(page, "Not in use yet");
  const shown = await rows(page, ".calibrate-constants");
  assert.deepEqual(
    shown.map((row) => [row[3], Number(row[2].replaceAll(",", ""))]),
    native.constants.map(({ key, after }) => [key, after]),
  );
  noComplaints(complaints);
  await context.close();
});

test("a start-up log gives settings, alone and beside a load test", async () => {
  const log = [
    "INFO Initializing a V1 LLM engine (v0.19.0) with config: model='Qwen/Qwen2.5-7B-Instruct', tensor_parallel_size=1, kv_cache_dtype=fp8",
    "INFO non-default args: {'max_num_seqs': 300}",
    "INFO GPU KV cache size: 400,000 tokens",
  ].join("\n");
  const { context, page, complaints } = await openCalibrate();
  await page.locator("#calibrate-text").fill(log);
  await page.locator("#calibrate-read").click();
  await page.locator(".calibrate-hero", { hasText: "Settings only" }).waitFor();
  const [file] = await files(page);
  assert.match(file.text, /pasted text.*start-up log of vLLM 0\.19\.0/);
  await page.locator("#calibrate-use").click();
  const link = await linkWith(page, "kv.capacity_tokens=400000");
  for (const part of ["engine=vllm-0.19", "kv_dtype=fp8", "sched.max_num_seqs=300"]) {
    assert.ok(link.includes(part), `${part} in ${link}`);
  }
  await give(page, {
    "server.log": log,
    "load.json": JSON.stringify({
      request_rate: 4, completed: 200, total_input_tokens: 200_000, total_output_tokens: 40_000,
      duration: 50, request_throughput: 4, mean_ttft_ms: 61, mean_tpot_ms: 9.9,
    }),
  });
  await page.waitForFunction(() => document.querySelectorAll(".calibrate-points tbody tr").length === 1);
  await pill(page, "Not in use yet");
  assert.match((await files(page))[1].text, /vllm bench serve, 1 point/);
  noComplaints(complaints);
  await context.close();
});

test("hostile files end in a clear message, and the worker lives on", async () => {
  const { context, page, complaints } = await openCalibrate();
  const noise = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 2_654_435_761) >>> 13 & 255));
  const hostile = {
    "cut.json": '{"mean_ttft_ms": 12, "total_inp',
    "noise.bin": noise,
    "utf16.json": Buffer.from("\ufeff{\"a\": 1}", "utf16le"),
    "deep.json": "[".repeat(300_000),
    "empty.txt": "",
    "bomb.csv": `${"a,".repeat(200_000)}\n1`,
    "all-failed.json": JSON.stringify({ completed: 0, failed: 9, total_input_tokens: 0, mean_ttft_ms: 0, mean_tpot_ms: 0 }),
    "<img src=x onerror=alert(1)>.json": "{}",
  };
  for (const [name, content] of Object.entries(hostile)) {
    await give(page, { [name]: content });
    const refused = page.locator(".calibrate-file[data-refused=true]", { hasText: name });
    await refused.waitFor();
    const said = await refused.locator(".calibrate-file-what").textContent();
    assert.ok(said.length > 40 && /[.”]$/.test(said.trim()), `${name}: ${said}`);
    assert.equal(await hero(page), "Nothing to fit");
  }
  // Larger than what is read, without filling the memory of the test.
  await page.evaluate(() => {
    const big = new File([new Uint8Array(65 << 20)], "big.json");
    const data = new DataTransfer();
    data.items.add(big);
    const target = document.querySelector(".calibrate");
    target.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.locator(".calibrate-file", { hasText: "larger than 64 MiB" }).waitFor();
  await page.locator("#calibrate-forget").click();
  await fitSample(page);
  noComplaints(complaints);
  await context.close();
});

test("a fit can be stopped and made again", async () => {
  const { context, page, complaints } = await openCalibrate();
  // A fit may be over in a second: it is stopped as soon as it can be.
  const stop = () =>
    page.waitForFunction(
      () => {
        const button = [...document.querySelectorAll("button")].find((it) => it.textContent === "Stop");
        button?.click();
        return Boolean(button);
      },
      null,
      { polling: "raf" },
    );
  const text = ["concurrency,input_tokens,output_tokens,requests,ttft_ms,tpot_ms"];
  for (let users = 1; users <= 60; users++) text.push(`${users * 6},2000,600,6000,${20 + users},${8 + users / 4}`);
  await give(page, { "long.csv": text.join("\n") });
  await stop();
  await page.locator(".calibrate-hero", { hasText: "Stopped" }).waitFor();
  await page.getByRole("button", { name: "Fit again" }).click();
  await stop();
  await page.locator(".calibrate-hero", { hasText: "Stopped" }).waitFor();
  noComplaints(complaints);
  await context.close();
});

for (const [name, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
  for (const colorScheme of ["light", "dark"]) {
    test(`nothing sticks out and axe finds nothing: ${name}, ${colorScheme}`, async () => {
      const { context, page, complaints } = await openCalibrate({ viewport, colorScheme });
      const check = async (state) => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${state}: ${wide} px too wide`);
        await page.evaluate(source);
        const { violations } = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }));
        assert.deepEqual(violations.map((it) => [it.id, it.nodes.map((node) => node.html).slice(0, 3)]), [], state);
      };
      await check("empty");
      await fitSample(page);
      await check("fitted");
      if (process.env.HEADROOM_SHOTS) {
        await page.screenshot({ path: join(process.env.HEADROOM_SHOTS, `calibrate-${name}-${colorScheme}.png`), fullPage: name === "phone" });
      }
      noComplaints(complaints);
      await context.close();
    });
  }
}

test("a model that the catalogue lacks comes by its config.json", async () => {
  const { context, page, complaints } = await openCalibrate();
  const config = {
    architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 3072, intermediate_size: 8192,
    num_hidden_layers: 28, num_attention_heads: 24, num_key_value_heads: 8, vocab_size: 128256,
    max_position_embeddings: 131072, torch_dtype: "bfloat16", tie_word_embeddings: true,
  };
  await give(page, { "config.json": JSON.stringify(config) });
  await page.locator(".calibrate-hero", { hasText: "Settings only" }).waitFor();
  assert.match((await files(page))[0].text, /config\.json of llama, in BF16/);
  await page.locator("#calibrate-use").click();
  // 28 layers, keys and values, 8 heads of 128, two bytes.
  const link = await linkWith(page, `step.kv_bytes_per_token=${28 * 2 * 8 * 128 * 2}`);
  assert.match(link, /step\.params=3\.?\d*/);
  await give(page, { "config.json": JSON.stringify({ ...config, num_hidden_layers: "many" }) });
  await page.locator(".calibrate-file[data-refused=true]", { hasText: "num_hidden_layers" }).waitFor();
  noComplaints(complaints);
  await context.close();
});
