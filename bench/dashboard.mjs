/**
 * `node bench/dashboard.mjs [rows] [connections] [parts…]`: the dashboard in Chromium against the built gateway. Parts, all of them by default:
 * `times` (to the first paint, to Home with its figures, to each view and from a filter to its rows; median of five, cold cache for the first two),
 * `busy` (the same while eight clients ask the gateway without a pause: twice the time is allowed),
 * `smooth` (script of a frame of scrolling and of a typed letter, the longest task), `hidden` (CPU of a hidden page while the gateway works), `soak`
 * (what an hour of the feed, 72,000 frames in fast motion, leaves in memory), `watched` (requests a second with four pages open, and without).
 * `CHROMIUM` names the browser, `BENCH_DATA` a data folder that is filled once and kept.
 */
import Sqlite from "better-sqlite3"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import { ADMIN_KEY } from "./lib/servers.mjs"

const [rows, connections] = [2, 3].map((place, n) => Number(process.argv[place] ?? [1_000_000, 1_000][n]))
const password = "bench password of this run"
const parts = new Set(process.argv.slice(4))
const isWanted = (part) => parts.size === 0 || parts.has(part)
const folder = process.env.BENCH_DATA ?? mkdtempSync(join(tmpdir(), "gateway-dashboard-"))
mkdirSync(folder, { recursive: true })
const program = fileURLToPath(new URL("../bin/gateway", import.meta.url))
const browserPath = [process.env.CHROMIUM ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== "" && existsSync(path)
)
const tries = 5
const feedFrames = 72_000
const scrollFrames = 300
const hiddenMs = 30_000
const loadMs = 10_000
const rounds = 5
const settleMs = 4_000
const restMs = 30_000
/** A kept data folder names it. */
const upstreamPort = 20_779

const start = async () => {
  const child = spawn(program, ["serve", "--port", "0", "--no-open"], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      DATA_DIR: folder,
      GATEWAY_ADMIN_KEY: ADMIN_KEY,
      GATEWAY_ADMIN_PASSWORD: password,
      GATEWAY_ENV_CONNECTIONS: "false"
    },
    stdio: ["ignore", "pipe", "ignore"]
  })
  const [line] = await once(child.stdout, "data")
  return { child, url: /http:\S+/.exec(String(line))[0] }
}

const stop = async ({ child }) => {
  child.kill("SIGTERM")
  await once(child, "exit")
}

const post = async (url, path, body) => {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`)
}

const connect = async (url) => {
  const providers = ["openai", "groq", "mistral", "xai"]
  const one = (n) =>
    post(url, "/api/providers", {
      provider: providers[n % providers.length],
      name: `account ${n}`,
      apiKey: `sk-bench-${String(n).padStart(24, "0")}`,
      baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
      models: ["gpt-4o", "gpt-4o-mini"]
    })
  for (let n = 0; n < connections; n += 20) {
    await Promise.all(Array.from({ length: Math.min(20, connections - n) }, (_, at) => one(n + at)))
  }
}

/** Rows of the last 30 days. */
const fill = () => {
  const database = new Sqlite(join(folder, "gateway.sqlite"))
  const now = Date.now()
  const step = Math.max(1, Math.floor((30 * 86_400_000) / rows))
  database.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1}),
    t(i, ms) AS (SELECT i, ${now - rows * step} + i * ${step} FROM n)
    INSERT INTO usage_log (id, timestamp_ms, request_id, api_key_id, requested_model, provider, connection_id, model, source_wire,
      target_wire, streamed, outcome, status, latency_ms, ttft_ms, attempts, tokens_in, tokens_out, tokens_cache_read,
      tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source)
    SELECT printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i), ms, printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i),
      'key-' || (i % 10), 'auto', 'p' || (i % 3), 'c' || (i % 3), 'm' || (i % 5), 'chat', 'chat', 0,
      CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END, CASE WHEN i % 50 = 0 THEN 500 ELSE 200 END, 1000, 300, 1, 1000, 200, 0, 0, 0,
      i % 1000000, 1, 'upstream' FROM t`)
  database.close()
}

/** Waits until the gateway has put all rows into its sums, as it does while they come one by one. */
const summed = async () => {
  const database = new Sqlite(join(folder, "gateway.sqlite"), { readonly: true })
  const isBehind = database.prepare(
    "SELECT (SELECT MAX(seq) FROM usage_log) > MIN((SELECT seq FROM usage_summed), (SELECT seq FROM usage_series_summed)) AS is_behind"
  )
  while (isBehind.get().is_behind === 1) await new Promise((resolve) => setTimeout(resolve, 1_000))
  database.close()
}

const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
/** Times of the present part, and how often the goal of an idle gateway they may take. */
let timed = { prefix: "", factor: 1 }
const printTime = (name, value, goalMs, more = "") =>
  print(`${timed.prefix}${name}`, ms(value), `≤ ${goalMs * timed.factor} ms${more}`)
const print = (name, value, goal) => process.stdout.write(`${name.padEnd(44)} ${value.padStart(12)}   ${goal}\n`)
const ms = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`
const mib = (bytes) => `${(bytes / 1_048_576).toFixed(2)} MiB`

/** A browser of its own: nothing is in its cache. */
const enter = async (browser, url, before = async () => {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await before(page)
  await page.goto(`${url}/dashboard/`)
  await page.getByLabel("Admin password").fill(password)
  await page.getByRole("button", { name: "Log in" }).click()
  await page.getByRole("navigation", { name: "Views" }).waitFor()
  return { context, page }
}

/** The state of a session, for browsers that have loaded nothing yet. */
const session = async (browser, url) => {
  const { context } = await enter(browser, url)
  const state = await context.storageState()
  await context.close()
  return state
}

const coldTimes = async (browser, url) => {
  const storageState = await session(browser, url)
  const paints = []
  const homes = []
  for (let n = 0; n < tries; n++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState })
    const page = await context.newPage()
    await page.goto(`${url}/dashboard/`)
    await page.locator("main .now").waitFor()
    await page.waitForFunction(() => document.querySelector("main .skeleton") === null)
    const [paint, home] = await page.evaluate(() => [
      performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
      performance.now()
    ])
    paints.push(paint)
    homes.push(home)
    await context.close()
  }
  printTime("first paint", median(paints), 600)
  printTime("Home with figures", median(homes), 1_000)
}

/** Time in the page from a click to a view without a skeleton. */
const opened = (page, name) =>
  page.evaluate(
    (entry) =>
      new Promise((resolve) => {
        const link = [...document.querySelectorAll(".side a")].find(({ title }) => title === entry)
        const begun = performance.now()
        link.click()
        const look = () => {
          const isThere =
            link.getAttribute("aria-current") === "page" && document.querySelector("main .skeleton") === null
          if (isThere && document.querySelector("main h1") !== null) resolve(performance.now() - begun)
          else requestAnimationFrame(look)
        }
        requestAnimationFrame(look)
      }),
    name
  )

const viewTimes = async (page) => {
  const names = await page.locator(".side a").evaluateAll((links) => links.map(({ title }) => title))
  for (const name of names) await opened(page, name)
  await watchTasks(page)
  for (const name of names) {
    const times = []
    for (let n = 0; n < tries; n++) {
      await opened(page, names[(names.indexOf(name) + 1) % names.length])
      times.push(await opened(page, name))
    }
    printTime(`view ${name}, warm`, median(times), 500)
  }
  const longest = await page.evaluate(() => globalThis.longest)
  print(`${timed.prefix}views, longest task`, ms(longest), "≤ 50 ms (0: none above)")
}

const filterTime = async (page) => {
  await opened(page, "Requests")
  await page.getByRole("gridcell").first().waitFor()
  const times = []
  for (let n = 0; n < tries; n++) {
    const isFailed = n % 2 === 0
    const begun = await page.evaluate(() => performance.now())
    await page.getByLabel("Filter", { exact: true }).fill(isFailed ? "status:failed" : "status:completed")
    await page.waitForFunction(
      (status) => {
        const cells = [...document.querySelectorAll("[role=gridcell]:nth-child(2)")].slice(0, 3)
        return cells.length === 3 && cells.every(({ textContent }) => textContent.includes(status))
      },
      isFailed ? "500" : "200",
      { polling: "raf" }
    )
    times.push((await page.evaluate(() => performance.now())) - begun)
  }
  printTime("filter to rows, with 250 ms until it settles", median(times), 300, " + 250")
}

const scripted = async (cdp) => {
  const { metrics } = await cdp.send("Performance.getMetrics")
  return 1_000 * metrics.find(({ name }) => name === "ScriptDuration").value
}

const watchTasks = (page) =>
  page.evaluate(() => {
    globalThis.longest = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration)
    }).observe({ type: "longtask" })
  })

const smoothness = async (page, cdp) => {
  await opened(page, "Requests")
  await page.getByLabel("Filter", { exact: true }).fill("")
  await page.waitForURL(/requests$/)
  await page.getByRole("gridcell").first().waitFor()
  await watchTasks(page)
  const before = await scripted(cdp)
  await page.evaluate(
    (frames) =>
      new Promise((resolve) => {
        const list = document.querySelector("[role=grid]")
        const box = [list, ...list.querySelectorAll("*")].find(
          (element) =>
            element.scrollHeight > element.clientHeight + 1 && getComputedStyle(element).overflowY !== "visible"
        )
        let left = frames
        const step = () => {
          box.scrollTop += 400
          if (--left > 0) requestAnimationFrame(step)
          else resolve()
        }
        requestAnimationFrame(step)
      }),
    scrollFrames
  )
  print("scrolling, script a frame", ms(((await scripted(cdp)) - before) / scrollFrames), "≤ 4 ms")
  print("scrolling, longest task", ms(await page.evaluate(() => globalThis.longest)), "≤ 50 ms (0: none above)")
  const typedBefore = await scripted(cdp)
  const text = "model:gpt-4o status:failed provider:openai"
  await page.getByLabel("Filter", { exact: true }).focus()
  await page.keyboard.type(text)
  print("typing, script a letter", ms(((await scripted(cdp)) - typedBefore) / text.length), "≤ 50 ms")
}

const memory = async (cdp) => {
  for (let n = 0; n < 3; n++) await cdp.send("HeapProfiler.collectGarbage")
  const { usedSize } = await cdp.send("Runtime.getHeapUsage")
  const { nodes } = await cdp.send("Memory.getDOMCounters")
  return { usedSize, nodes }
}

/** An hour of events, twenty a second, as fast as the page takes them: five of each request. */
const soak = async (browser, url) => {
  let socket
  const { context, page } = await enter(browser, url, (one) =>
    one.routeWebSocket(/api\/live/, (routed) => {
      const gateway = routed.connectToServer()
      socket = routed
      routed.onMessage((message) => gateway.send(message))
      gateway.onMessage((message) => routed.send(message))
    })
  )
  const cdp = await context.newCDPSession(page)
  await opened(page, "Requests")
  await page.getByRole("gridcell").first().waitFor()
  const events = ["request.started", "request.attempt", "request.attempt", "request.streaming", "request.completed"]
  const told = async (from, until) => {
    for (let n = from; n < until; n++) {
      const event = events[n % events.length]
      const data = {
        requestId: `soak-${Math.floor(n / events.length)}`,
        requestedModel: "auto",
        candidates: 3,
        first: "openai/gpt-4o",
        target: "openai/gpt-4o",
        outcome: null
      }
      socket.send(JSON.stringify({ type: "event", channel: "requests", event, at: new Date().toISOString(), data }))
      if (n % 500 === 499) await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => resolve())))
    }
    await page.waitForFunction(() => document.querySelector(".running") === null)
  }
  await told(0, 2_000)
  const before = await memory(cdp)
  await told(2_000, 2_000 + feedFrames)
  const after = await memory(cdp)
  print(`${feedFrames} frames of the feed, heap`, mib(after.usedSize - before.usedSize), "≤ 5 MiB more")
  print(
    `${feedFrames} frames of the feed, nodes`,
    `${(((after.nodes - before.nodes) / before.nodes) * 100).toFixed(2)} %`,
    "≤ 1 % more"
  )
  await context.close()
}

/** A hidden page hears only what needs a person, whatever the gateway does. */
const hiddenPage = async (browser, url) => {
  const { context, page } = await enter(browser, url)
  const cdp = await context.newCDPSession(page)
  await cdp.send("Performance.enable")
  await opened(page, "Home")
  await opened(page, "Requests")
  await page.getByRole("gridcell").first().waitFor()
  // Chromium without a window shows every page; the page goes by what it is told.
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true })
    document.dispatchEvent(new Event("visibilitychange"))
  })
  const spent = async () => {
    const { metrics } = await cdp.send("Performance.getMetrics")
    return metrics.find(({ name }) => name === "TaskDuration").value
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const before = await spent()
  const until = Date.now() + hiddenMs
  let asked = 0
  while (Date.now() < until) {
    await chat(url, "openai/gpt-4o")
    asked += 1
  }
  print(
    `hidden page, ${asked} requests meanwhile, CPU`,
    `${((((await spent()) - before) * 100_000) / hiddenMs).toFixed(2)} %`,
    "≤ 0.5 %"
  )
  await context.close()
}

const chat = async (url, model) => {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Say hello." }] })
  })
  await answer.text()
}

/** Eight clients that ask without a pause while `isOn` says so; returns how often they have asked. */
const asking = async (url, isOn) => {
  let asked = 0
  const client = async () => {
    while (isOn()) {
      await chat(url, "openai/gpt-4o")
      asked += 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  return asked
}

/** Requests a second, eight at once. */
const loaded = async (url) => {
  const until = Date.now() + loadMs
  return ((await asking(url, () => Date.now() < until)) * 1_000) / loadMs
}

const times = async (browser, url, page) => {
  await coldTimes(browser, url)
  await viewTimes(page)
  await filterTime(page)
}

/** The times under load, and twice the goals. */
const busyTimes = async (browser, url, page) => {
  timed = { prefix: "busy: ", factor: 2 }
  let isOn = true
  const begun = Date.now()
  const asked = asking(url, () => isOn)
  await times(browser, url, page)
  isOn = false
  print("busy: requests a second meanwhile", ((await asked) / ((Date.now() - begun) / 1_000)).toFixed(0), "")
}

/** Four pages at full load: what they cost the gateway, and how many frames of the feed each is sent. CPU of the pages is not the gateway's. */
const watched = async (browser, gateway) => {
  const cpuMs = () => {
    const [, rest] = readFileSync(`/proc/${gateway.child.pid}/stat`, "utf8").split(") ")
    const fields = rest.split(" ")
    return (Number(fields[11]) + Number(fields[12])) * 10
  }
  const measured = async () => {
    const before = cpuMs()
    const perSecond = await loaded(gateway.url)
    return { perSecond, cpuPerRequest: (cpuMs() - before) / ((perSecond * loadMs) / 1_000) }
  }
  const resting = async () => {
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    const before = cpuMs()
    await new Promise((resolve) => setTimeout(resolve, restMs))
    return ((cpuMs() - before) / restMs) * 100
  }
  // What a start brings with it is over.
  for (let n = 0; n < 3; n++) await loaded(gateway.url)
  let frames = 0
  let isCounted = false
  const [alone, seen] = [[], []]
  const openFour = async () => {
    const contexts = []
    for (const entry of ["Home", "Requests", "Providers", "Keys & money"]) {
      const { context, page } = await enter(browser, gateway.url, async (one) => {
        one.on("websocket", (socket) => socket.on("framereceived", () => (frames += isCounted ? 1 : 0)))
      })
      await opened(page, entry)
      contexts.push(context)
    }
    return contexts
  }
  const restAlone = await resting()
  const four = await openFour()
  const restSeen = await resting()
  for (const context of four) await context.close()
  print("four pages, no request, CPU of the gateway", `${(restSeen - restAlone).toFixed(2)} %`, "≤ 2 % of a core")
  // By turns, so that what else the machine does falls on both.
  for (let round = 0; round < rounds; round++) {
    alone.push(await measured())
    const contexts = await openFour()
    // What the pages ask for when they are opened is no part of watching.
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    isCounted = true
    seen.push(await measured())
    isCounted = false
    for (const context of contexts) await context.close()
  }
  const of = (all, name) => median(all.map((each) => each[name]))
  const more = (of(seen, "cpuPerRequest") / of(alone, "cpuPerRequest") - 1) * 100
  print("four pages, CPU of the gateway a request", `${more.toFixed(1)} % more`, "≤ 2 %")
  print(
    "four pages, requests a second",
    `${of(seen, "perSecond").toFixed(0)} / ${of(alone, "perSecond").toFixed(0)}`,
    ""
  )
  print("four pages, frames a second each", (frames / 4 / ((rounds * loadMs) / 1_000)).toFixed(1), "≤ 20")
}

const upstream = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "Content-Type": "application/json" })
    response.end(
      request.url.endsWith("/models")
        ? JSON.stringify({ object: "list", data: [{ id: "gpt-4o" }, { id: "gpt-4o-mini" }] })
        : JSON.stringify({
            id: "chatcmpl-1",
            object: "chat.completion",
            created: 1,
            model: "gpt-4o",
            choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
            usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }
          })
    )
  })
}).listen(upstreamPort, "127.0.0.1")
await once(upstream, "listening")

if (browserPath === undefined) throw new Error("no Chromium is here; CHROMIUM names one")
let gateway
if (!existsSync(join(folder, "gateway.sqlite"))) {
  gateway = await start()
  await connect(gateway.url)
  await stop(gateway)
  fill()
}
gateway = await start()
await summed()
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-dev-shm-usage"]
})
try {
  process.stdout.write(`${rows} rows, ${connections} connections\n`)
  if (["times", "busy", "smooth"].some(isWanted)) {
    const { context, page } = await enter(browser, gateway.url)
    const cdp = await context.newCDPSession(page)
    await cdp.send("Performance.enable")
    if (isWanted("times")) await times(browser, gateway.url, page)
    if (isWanted("busy")) await busyTimes(browser, gateway.url, page)
    if (isWanted("smooth")) await smoothness(page, cdp)
    await context.close()
  }
  if (isWanted("hidden")) await hiddenPage(browser, gateway.url)
  if (isWanted("watched")) await watched(browser, gateway)
  if (isWanted("soak")) await soak(browser, gateway.url)
} finally {
  await browser.close()
  await stop(gateway)
  upstream.close()
  upstream.closeAllConnections()
  if (process.env.BENCH_DATA === undefined) rmSync(folder, { recursive: true, force: true })
}
