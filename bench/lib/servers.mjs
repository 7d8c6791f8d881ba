/**
 * The servers that are compared. `prepare`, where there is one, comes once before all else. Each `start` resolves once
 * the server listens and returns `{ name, pid, port, headers, startMs, modelId, setUp, stop }`; `setUp` makes it ready for requests.
 */
import fs from "node:fs"
import net from "node:net"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { installPortkey, portkeyProgram } from "./portkey.mjs"

const bench = fileURLToPath(new URL("../", import.meta.url))
const gatewayProgram = path.join(bench, "../bin/gateway")
/** What a program's own first line gives to Node: here Node is started by hand. */
const launcherFlags = (program) =>
  fs
    .readFileSync(program, "utf8")
    .split("\n", 1)[0]
    .split(" ")
    .filter((word) => word.startsWith("--"))
const portkeyPreload = path.join(bench, "portkey-preload.cjs")

export const SERVER_CORE = 1
const START_LIMIT_MS = 30_000
const LISTENING = /listening on http:\/\/127\.0\.0\.1:(\d+)/i
export const ADMIN_KEY = "bench-admin-key-of-this-run-only"
const NODE_PREFIX = "bench"
const UPSTREAM_MODELS = ["fixed", "paced", "idle", "turn-chat"]
/** The same upstream as a server of the messages wire. */
const MESSAGES_PREFIX = "bench-messages"
const MESSAGES_MODELS = ["turn-messages"]

/** Only what a server needs, without the keys and settings of the user's environment. */
const baseEnvironment = (folder) => ({ PATH: process.env.PATH, HOME: folder, NODE_ENV: "production" })

const announced = async (child, startedAt) => {
  try {
    const [, port] = await child.waitForLine(LISTENING, START_LIMIT_MS)
    return { port: Number(port), startMs: performance.now() - startedAt }
  } catch (error) {
    await child.stop(0)
    throw error
  }
}

const floor = {
  start: async ({ processes, upstreamPort, core, folder }) => {
    const startedAt = performance.now()
    const child = processes.start(process.execPath, [path.join(bench, "floor.mjs"), String(upstreamPort)], {
      core,
      env: baseEnvironment(folder)
    })
    const ready = await announced(child, startedAt)
    return {
      name: "floor",
      pid: child.pid,
      headers: [],
      modelId: (model) => model,
      setUp: async () => {},
      stop: child.stop,
      ...ready
    }
  }
}

/** Calls a management route of a gateway that was started here; throws with its answer when it refuses. */
export const callAdmin = async (port, method, route, body) => {
  const response = await fetch(`http://127.0.0.1:${port}${route}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  if (!response.ok)
    throw new Error(`${method} ${route} answered ${response.status}: ${(await response.text()).slice(0, 300)}`)
  return response.json()
}

/** A provider node with a connection, and prices for its models. */
const addUpstream = async (port, { baseUrl, models, prefix, type, wires }) => {
  await callAdmin(port, "POST", "/api/provider-nodes", { name: `Upstream ${prefix}`, prefix, type, baseUrl, wires })
  await callAdmin(port, "POST", "/api/providers", { provider: prefix, apiKey: "sk-bench-upstream-key", models })
  const prices = Object.fromEntries(models.map((model) => [model, { input: 0.15, output: 0.6 }]))
  await callAdmin(port, "PATCH", "/api/pricing", { [prefix]: prices })
}

/** Both upstreams, and a key for the load; returns the key. */
const configureGateway = async (port, upstreamPort) => {
  const baseUrl = `http://127.0.0.1:${upstreamPort}/v1`
  const chat = { prefix: NODE_PREFIX, type: "openai-compatible", wires: ["chat"], models: UPSTREAM_MODELS }
  const messages = {
    prefix: MESSAGES_PREFIX,
    type: "anthropic-compatible",
    wires: ["messages"],
    models: MESSAGES_MODELS
  }
  for (const upstream of [chat, messages]) await addUpstream(port, { ...upstream, baseUrl })
  const { secret } = await callAdmin(port, "POST", "/api/keys", { name: "bench" })
  return secret
}

/** The newest usage row, once rows are readable (within five seconds of the request). */
export const newestUsageRow = async (server) => {
  for (let attempt = 0; attempt < 6; attempt++) {
    const { logs } = await callAdmin(server.port, "GET", "/api/usage/logs?limit=1")
    if (logs.length > 0) return logs[0]
    await sleep(1_000)
  }
  return undefined
}

/** `env`, `nodeFlags` and `program` change what is started and how; `dataDir` continues with an earlier folder. */
const gateway = {
  start: async (
    { processes, upstreamPort, core, folder },
    { dataDir, env, nodeFlags = [], program = gatewayProgram } = {}
  ) => {
    const data = dataDir ?? fs.mkdtempSync(path.join(folder, "data-"))
    const startedAt = performance.now()
    const child = processes.start(
      process.execPath,
      [...launcherFlags(program), ...nodeFlags, program, "serve", "--host", "127.0.0.1", "--port", "0", "--no-open"],
      {
        core,
        env: {
          ...baseEnvironment(folder),
          DATA_DIR: data,
          GATEWAY_ADMIN_KEY: ADMIN_KEY,
          GATEWAY_ENV_CONNECTIONS: "false",
          REQUIRE_API_KEY: "true",
          ...env
        }
      }
    )
    const ready = await announced(child, startedAt)
    const server = {
      name: "gateway",
      pid: child.pid,
      headers: [],
      modelId: (model) => `${MESSAGES_MODELS.includes(model) ? MESSAGES_PREFIX : NODE_PREFIX}/${model}`,
      stop: () => child.stop(15_000),
      dataDir: data,
      ...ready
    }
    server.setUp = async () => {
      const secret = await configureGateway(server.port, upstreamPort)
      server.headers = [`Authorization: Bearer ${secret}`]
    }
    return server
  }
}

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = net.createServer().once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** Portkey cannot take any free port and tell which, so one is found for it and tried until it answers. */
const portkey = {
  prepare: ({ processes }) => installPortkey(processes),
  start: async ({ processes, upstreamPort, core, folder }) => {
    const program = portkeyProgram()
    const port = await freePort()
    const startedAt = performance.now()
    const child = processes.start(process.execPath, ["-r", portkeyPreload, program, "--headless", `--port=${port}`], {
      core,
      env: baseEnvironment(folder),
      cwd: path.dirname(path.dirname(program))
    })
    while (!(await accepts(port))) {
      if (child.ended() || performance.now() - startedAt > START_LIMIT_MS) {
        await child.stop(0)
        throw child.complaint("(Portkey) did not start")
      }
      await sleep(2)
    }
    const headers = [
      "Authorization: Bearer sk-bench-upstream",
      "x-portkey-provider: openai",
      `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`
    ]
    return {
      name: "portkey",
      pid: child.pid,
      port,
      headers,
      startMs: performance.now() - startedAt,
      modelId: (model) => model,
      setUp: async () => {},
      stop: child.stop
    }
  }
}

export const servers = { floor, gateway, portkey }
