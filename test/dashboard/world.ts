/**
 * The world of the suites of this folder: the built gateway on a data folder of its own, an upstream that a test controls, and Chromium. A page
 * fails its test when the console says something that is not expected, when a script fails, or when anything is asked of another host.
 */
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { existsSync } from "node:fs"
import { once } from "node:events"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { afterAll, afterEach, assert, beforeAll } from "vitest"
import { program, type Serving } from "../cli/support.ts"

const places = [
  process.env["CHROMIUM"] ?? "",
  // The same engine without a window, which takes a fifth less.
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome"
]

/** The browser of this machine; null: there is none, and the suites are skipped. */
export const browserPath = places.find((path) => path !== "" && existsSync(path)) ?? null

export const password = "correct horse battery"
export const adminKey = "admin-key-of-the-tests-0123456789"

export interface Upstream {
  readonly url: string
  /** Answers of `/chat/completions`, by the model that is asked for; without one it says hello. */
  readonly answers: Map<string, (response: ServerResponse) => void>
}

const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "Content-Type": "application/json" })
  response.end(JSON.stringify(body))
}

export const hello =
  (model: string) =>
  (response: ServerResponse): void =>
    json(response, 200, {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 812, completion_tokens: 190, total_tokens: 1002 }
    })

export const failing =
  (status: number, message: string) =>
  (response: ServerResponse): void =>
    json(response, status, { error: { message } })

const startUpstream = async () => {
  const answers: Upstream["answers"] = new Map()
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (chunk: Buffer) => (text += chunk.toString()))
    request.on("end", () => {
      if (request.url?.endsWith("/models") === true) {
        return json(response, 200, { object: "list", data: [{ id: "gpt-4o" }, { id: "gpt-4o-mini" }] })
      }
      const { model } = JSON.parse(text) as { readonly model: string }
      return (answers.get(model) ?? hello(model))(response)
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    upstream: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, answers },
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

export interface World {
  readonly gateway: () => Serving
  readonly upstream: () => Upstream
  readonly dataDir: () => string
  /** Runs the command line against this gateway. */
  readonly run: ReturnType<typeof program>["run"]
  /** A management call as administrator. */
  readonly manage: <A>(method: string, path: string, body?: unknown) => Promise<A>
  /** A chat request of a client without a key; its status and id. */
  readonly ask: (model: string) => Promise<{ readonly status: number; readonly requestId: string }>
  /** A page in a browser of its own: nothing is kept from the others. */
  readonly open: (path?: string, options?: PageOptions) => Promise<Page>
  /** The same, logged in. */
  readonly enter: (path?: string, options?: PageOptions) => Promise<Page>
  /** Starts one more gateway with what the first one was given, on this data folder. It is stopped at the end. */
  readonly another: (dataDir: string) => Promise<Serving>
  /** A new, empty data folder. */
  readonly newFolder: () => string
  /** Lets a test expect what the console says, or that another host is asked. */
  readonly expect: (message: RegExp) => void
}

/** Options of the browser; `at`: the address that it is given, of a proxy before the gateway; `before` runs before the page is loaded. */
export type PageOptions = Parameters<Browser["newContext"]>[0] & {
  readonly at?: string
  readonly before?: (page: Page) => Promise<void>
}

/** Longest wait for a state of a page: a busy machine takes its time. */
const longestWaitMs = 90_000

/** What Chromium says of every answer that is no success: the view shows it itself. */
const ordinary = [/Failed to load resource: the server responded with a status of (?:400|401|403|404|409|412|429|503)/]

export const logIn = async (page: Page): Promise<void> => {
  await page.getByLabel("Admin password").fill(password)
  await page.getByRole("button", { name: "Log in" }).click()
  await page.getByRole("navigation", { name: "Views" }).waitFor()
}

/**
 * One for all suites of a process. Each page has a context of its own, so that they share nothing but the program. Playwright ends it with the
 * process.
 */
let browser: Promise<Browser> | null = null

const chromiumOf = (): Promise<Browser> => {
  browser ??= chromium.launch({
    executablePath: browserPath ?? "",
    // The tests may run as root, in a container.
    args: ["--no-sandbox", "--disable-dev-shm-usage"]
  })
  return browser
}

const watch = (page: Page, origin: string, problems: Array<string>, expected: () => ReadonlyArray<RegExp>): void => {
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`))
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return
    const text = message.text()
    if (![...ordinary, ...expected()].some((pattern) => pattern.test(text))) problems.push(`console: ${text}`)
  })
  page.on("request", (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) {
      const problem = `asked of another host: ${request.url()}`
      if (!expected().some((pattern) => pattern.test(problem))) problems.push(problem)
    }
  })
}

/** Which sessions the pages of a suite have: the same one, as tabs of a browser do, or each its own, where sessions are what is tested. */
export interface Sessions {
  readonly sessions: "shared" | "own"
}

/** Makes the world of a suite; `environment` is the gateway's, beside what all have. */
export const world = (
  environment: Readonly<Record<string, string>> = {},
  { sessions }: Sessions = { sessions: "shared" }
): World => {
  const built = program()
  const contexts = new Set<BrowserContext>()
  const problems: Array<string> = []
  let expected: Array<RegExp> = []
  let session: PageOptions["storageState"]
  let gateway: Serving
  let upstream: Upstream
  let stopUpstream = (): void => {}
  let folder = ""
  const more: Array<Serving> = []
  const serve = (dataDir: string): Promise<Serving> =>
    built.serve({
      DATA_DIR: dataDir,
      GATEWAY_ADMIN_KEY: adminKey,
      GATEWAY_ADMIN_PASSWORD: password,
      GATEWAY_ENV_CONNECTIONS: "false",
      GATEWAY_LOG_LEVEL: "error",
      ...environment
    })

  beforeAll(async () => {
    const started = await startUpstream()
    upstream = started.upstream
    stopUpstream = started.stop
    folder = built.dataDir()
    gateway = await serve(folder)
  })
  afterEach(async () => {
    for (const context of contexts) await context.close()
    contexts.clear()
    const found = problems.splice(0)
    expected = []
    assert.deepStrictEqual(found, [])
  })
  afterAll(async () => {
    for (const one of [gateway, ...more]) {
      if (one !== undefined && one.process.exitCode === null && one.process.signalCode === null)
        await one.stop("SIGTERM")
    }
    stopUpstream()
  })

  const open: World["open"] = async (path = "", { at = gateway.url, before, ...options } = {}) => {
    const context = await (await chromiumOf()).newContext({ viewport: { width: 1280, height: 800 }, ...options })
    contexts.add(context)
    context.setDefaultTimeout(longestWaitMs)
    const page = await context.newPage()
    watch(page, new URL(at).origin, problems, () => expected)
    await before?.(page)
    await page.goto(`${at}/dashboard/${path}`)
    return page
  }
  return {
    gateway: () => gateway,
    upstream: () => upstream,
    dataDir: () => folder,
    run: built.run,
    another: async (dataDir) => {
      const one = await serve(dataDir)
      more.push(one)
      return one
    },
    newFolder: built.dataDir,
    manage: async (method, path, body) => {
      const answer = await fetch(`${gateway.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await answer.text()
      assert.isTrue(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
      return text === "" ? null : JSON.parse(text)
    },
    ask: async (model) => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Say hello in one word." }] })
      })
      await answer.text()
      return { status: answer.status, requestId: answer.headers.get("x-gateway-request-id") ?? "" }
    },
    open,
    enter: async (path, options) => {
      const page = await open(path, session === undefined ? options : { storageState: session, ...options })
      const form = page.getByLabel("Admin password")
      await form
        .or(page.getByRole("navigation", { name: "Views" }))
        .first()
        .waitFor()
      // The first one, or the session has ended.
      if (await form.isVisible()) {
        await logIn(page)
        if (sessions === "shared") session = { cookies: await page.context().cookies(), origins: [] }
      }
      return page
    },
    expect: (message) => void expected.push(message)
  }
}
