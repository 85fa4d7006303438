// The page and the command line give the same numbers: as shown, and to the last bit.
//
// HEADROOM_CLI  the native program; `cargo xtask test browser` builds it and sets this.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { launch, siteUrl } from "./browser.mjs";
import { answer, kneeTable, noComplaints, open } from "./page.mjs";

const SCENARIOS = {
  preset: "v=1",
  lognormal: "v=1&rate=40&in=lognormal(700,0.9)&out=lognormal(200,0.7)&sim.requests=1000",
  gamma: "v=1&rate=60&arrivals=gamma(0.5)&sim.requests=1000",
  "tiny budget": "v=1&rate=30&sched.max_num_batched_tokens=512&sim.requests=1000",
  "tight KV cache": "v=1&rate=30&kv.capacity_tokens=20000&sim.requests=1000",
  "engines of several GPUs":
    "v=1&model=llama-3.3-70b&gpu=h100-sxm&deploy.tp=4&engine=vllm-0.19&rate=20&tpot=60ms&sim.requests=1000",
  "a GPU of the wide catalogue": "v=1&gpu=b200&weights=fp8&rate=150&sim.requests=1000",
  affine:
    "v=1&rate=50&step.kind=affine&step.fixed_s=0.02&step.per_item_s=0.0005&tpot=60ms&sim.requests=1000",
};

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** What the native program says about the same link. */
function native(link) {
  const program = process.env.HEADROOM_CLI;
  if (!program) throw new Error("HEADROOM_CLI is not set: run `cargo xtask test browser`");
  const output = execFileSync(program, ["plan", `${siteUrl}#${link}`, "--json"], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return JSON.parse(output);
}

const UNITS = { ms: 1e-3, s: 1, "%": 0.01, "": 1 };

/** Fails unless a shown number is this value, rounded to the digits that are shown. */
function agrees(shown, value, what) {
  const [, sign, digits, unit] = /^([−-]?)([\d,]+(?:\.\d+)?) ?(ms|s|%|)(?!\S)/u.exec(shown) ?? [];
  assert.ok(digits, `${what}: “${shown}” is no number`);
  const number = Number(digits.replaceAll(",", "")) * (sign ? -1 : 1);
  const places = digits.split(".")[1]?.length ?? 0;
  const half = 0.5 * 10 ** -places;
  const there = value / UNITS[unit];
  const apart = Math.abs(there - number);
  assert.ok(apart <= half * (1 + 1e-9), `${what}: shown ${shown}, natively ${there}`);
}

/** All numbers in a JSON value, with where they are. */
function* numbersIn(value, path = "") {
  if (typeof value === "number") yield [path, value];
  else if (value && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) yield* numbersIn(inner, `${path}.${key}`);
  }
}

/** The bits of a float, as a text that can be searched for. */
const bits = (value) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};

/** Keeps the last message of the page's worker, which holds the answer's bits. */
const listen = (page) =>
  page.addInitScript(() => {
    window.Worker = class extends window.Worker {
      constructor(...args) {
        super(...args);
        this.addEventListener("message", ({ data }) => {
          window.lastWord = data;
        });
      }
    };
  });

for (const [name, link] of Object.entries(SCENARIOS)) {
  test(`${name}: page and command line agree`, async () => {
    const expected = native(link);
    const { context, page, complaints } = await open(browser, link, { prepare: listen });
    const said = await answer(page);
    const { verdict, planned, capacity_per_s: capacity } = expected;
    assert.equal(verdict.kind, "sized", `${name} has no answer: ${said.paragraph}`);

    const [low, high] = said.hero.split("–").map((text) => Number(text.replaceAll(",", "")));
    if (high === undefined) {
      assert.equal(low, verdict.gpus);
      const [each, , carried] = said.gauge;
      agrees(each.replace(/ per (GPU|engine)$/, ""), capacity.value, "per GPU");
      agrees(carried.replace(" carried", ""), verdict.carried_per_s, "carried");
    } else {
      assert.deepEqual([low, high], [verdict.gpus_low, verdict.gpus_high]);
    }
    const [load, , cache, sure] = said.facts;
    agrees(load[1], planned.ttft_p99_s.value, "planned TTFT");
    agrees(load[3], planned.tpot_p99_s.value, "planned TPOT");
    if (/step\.kind=(affine|queue-model)/.test(link)) assert.equal(cache[1], "Not modelled");
    else agrees(cache[1], planned.kv_peak_share, "KV peak");
    const [from, to] = sure[2].split(" to ");
    agrees(from, capacity.low, "capacity, low");
    agrees(to.replace(" req/s each", ""), capacity.high, "capacity, high");

    const rows = await kneeTable(page);
    assert.equal(rows.length, expected.knee.length);
    rows.forEach(([rate, ttft50, ttft99, tpot99, itl99, goodput, share, running], index) => {
      const point = expected.knee[index];
      const check = (shown, value, what) => agrees(shown, value, `point ${index + 1}, ${what}`);
      check(rate, point.rate_per_s, "rate");
      if (point.stable) {
        check(ttft50, point.ttft_p50_s.value, "TTFT P50");
        check(ttft99, point.ttft_p99_s.value, "TTFT P99");
        check(tpot99, point.tpot_p99_s.value, "TPOT P99");
        check(itl99, point.itl_p99_s.value, "ITL P99");
      } else {
        assert.match(ttft99, /withheld/);
      }
      check(goodput, point.goodput_per_s.value, "goodput");
      check(share, point.slo_share.value, "share");
      check(running, point.mean_running, "running");
    });

    const message = Buffer.from(await page.evaluate(() => [...window.lastWord]));
    const { knee, capacity_per_s, ceiling_per_s } = expected;
    let compared = 0;
    for (const [path, value] of numbersIn({ knee, capacity_per_s, ceiling_per_s, planned })) {
      assert.ok(message.includes(bits(value)), `${path}: ${value} is not in the page's answer`);
      compared += 1;
    }
    assert.ok(compared > 300, `only ${compared} numbers were compared`);
    noComplaints(complaints);
    await context.close();
  });
}
