/** One ordinary key fills what all share, or empties it: what another has under way ends, what it keeps is gone, or it finds no room. */
import { setTimeout as delay } from "node:timers/promises"
import { WebSocket } from "ws"
import * as Fake from "../../support/FakeUpstream.ts"
import { answerOf } from "../Asks.ts"
import type { Arena } from "../Arena.ts"
import type { Attempt, AttackClass, Verdict } from "../Attempt.ts"

interface Caller {
  readonly secret: string
  readonly post: (
    path: string,
    body: unknown,
    headers?: Record<string, string>
  ) => Promise<{ status: number; text: string }>
}

interface Scene {
  readonly arena: Arena
  readonly url: string
  readonly attacker: Caller
  readonly victim: Caller
  /** Answers at once. */
  readonly model: string
  /** Is answered when `release` is called, and says `slow`. */
  readonly slow: string
  readonly release: () => void
}

const patienceMs = 20_000

const until = async (what: string, isThere: () => boolean | Promise<boolean>): Promise<void> => {
  const endMs = performance.now() + patienceMs
  while (!(await isThere())) {
    if (performance.now() > endMs) throw new Error(`Waited for ${what}`)
    await delay(10)
  }
}

const callerOf = async ({ closed, fresh }: Arena): Promise<Caller> => {
  const { secret } = await closed.must("POST", "/api/keys", { name: fresh("pool") })
  const own = { authorization: `Bearer ${String(secret)}`, "content-type": "application/json" }
  return {
    secret,
    post: (path, body, headers = {}) =>
      closed.send({ method: "POST", path, headers: { ...own, ...headers }, body: JSON.stringify(body) })
  }
}

const sceneOf = async (arena: Arena): Promise<Scene> => {
  const { answer, closed, connection, node } = arena
  await closed.must("PATCH", "/api/settings", { a2aEnabled: true, mcpEnabled: true })
  const quick = await node(closed, "chat")
  const waiting = await node(closed, "chat")
  for (const { prefix } of [quick, waiting]) await connection(closed, prefix)
  let isReleased = false
  const held: Array<() => void> = []
  answer(waiting.prefix, async (response, request) => {
    if (!isReleased) await new Promise<void>((resolve) => void held.push(resolve))
    await Fake.json(answerOf("chat"))(response, request)
  })
  return {
    arena,
    url: `http://127.0.0.1:${closed.port}`,
    attacker: await callerOf(arena),
    victim: await callerOf(arena),
    model: `${quick.prefix}/m`,
    slow: `${waiting.prefix}/m`,
    release: () => {
      isReleased = true
      for (const each of held.splice(0)) each()
    }
  }
}

/** So many at a time. */
const many = async (count: number, run: (at: number) => Promise<unknown>, atOnce = 16): Promise<void> => {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await run(at)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const rpc = (method: string, params: object, id = 1) => ({ jsonrpc: "2.0", id, method, params })
const initialize = rpc("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "attack", version: "1" }
})

const sessionOf = async (scene: Scene, { secret }: Caller): Promise<string | null> => {
  const answer = await fetch(`${scene.url}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(initialize)
  })
  await answer.text()
  return answer.headers.get("mcp-session-id")
}

const routed = (model: string, prompt: string, id = 1) =>
  rpc("tools/call", { name: "gateway_route_request", arguments: { model, prompt } }, id)
const inSession = (id: string | null) => (id === null ? {} : { "mcp-session-id": id })

const task = (model: string, text: string, blocking: boolean, skill = "smart-routing") =>
  rpc("message/send", {
    message: {
      kind: "message",
      messageId: "m",
      role: "user",
      parts: [{ kind: "text", text }],
      metadata: { skill, model }
    },
    configuration: { blocking }
  })
const stateOf = async ({ post }: Caller, id: string): Promise<string> =>
  JSON.parse((await post("/a2a", rpc("tasks/get", { id }))).text).result?.status?.state ?? "gone"

const scenario = (name: string, run: (scene: Scene) => Promise<Verdict>): Attempt => ({
  name,
  run: async (arena) => {
    const scene = await sceneOf(arena)
    try {
      return await run(scene)
    } finally {
      scene.release()
    }
  }
})

const callsAt = ({ arena }: Scene, model: string): number => arena.asked(model.split("/")[0] ?? "").length

const sessions = (isBusy: boolean): Attempt =>
  scenario(`MCP sessions, ${isBusy ? "a call in one" : "one that waits"}`, async (scene) => {
    const { attacker, release, slow, victim } = scene
    const own = await sessionOf(scene, victim)
    const call = isBusy ? victim.post("/mcp", routed(slow, "Hi"), inSession(own)) : null
    if (isBusy) await until("the call", () => callsAt(scene, slow) > 0)
    await many(1_200, () => sessionOf(scene, attacker))
    release()
    if (call !== null && !(await call).text.includes("Hello"))
      return `the call ended: ${(await call).text.slice(0, 200)}`
    const { status, text } = await victim.post("/mcp", rpc("ping", {}), inSession(own))
    return status === 200 ? null : `the session is gone: ${text.slice(0, 200)}`
  })

const flooded = (
  name: string,
  flood: (scene: Scene) => Promise<unknown>,
  asked: (scene: Scene) => Promise<{ readonly status: number; readonly text: string }>,
  isServed: (text: string) => boolean
): Attempt =>
  scenario(name, async (scene) => {
    await flood(scene)
    const { status, text } = await asked(scene)
    return status < 300 && isServed(text) ? null : `no room: ${status} ${text.slice(0, 200)}`
  })

const mcpCalls = (withSessions: boolean): Attempt =>
  flooded(
    `MCP calls, ${withSessions ? "in sessions" : "without one"}`,
    async (scene) => {
      const { attacker, slow } = scene
      const all: Array<Promise<unknown>> = []
      let session: string | null = null
      for (let at = 0; at < 280; at += 1) {
        if (withSessions && at % 28 === 0) session = await sessionOf(scene, attacker)
        all.push(attacker.post("/mcp", routed(slow, "Hi", at + 1), inSession(session)).catch(() => null))
      }
      let answered = 0
      for (const each of all) void each.then(() => (answered += 1))
      await until("all calls", () => callsAt(scene, slow) + answered >= 280)
    },
    ({ model, victim }) => victim.post("/mcp", routed(model, "Hi")),
    (text) => text.includes("Hello")
  )

const runningTask = scenario("A2A tasks, one under way", async (scene) => {
  const { attacker, model, release, slow, victim } = scene
  const begun = JSON.parse((await victim.post("/a2a", task(slow, "Hi", false))).text).result.id
  const done = JSON.parse((await victim.post("/a2a", task(model, "Hi", true))).text).result.id
  await until("the task", () => callsAt(scene, slow) > 0)
  await many(1_200, () => attacker.post("/a2a", task(model, "Hi", true, "list-capabilities")))
  const states = [await stateOf(victim, begun), await stateOf(victim, done)]
  release()
  await until("the end of the task", async () => !["working", "submitted"].includes(await stateOf(victim, begun)))
  states.push(await stateOf(victim, begun))
  return states.join(" ") === "working completed completed" ? null : states.join(" ")
})

const a2aRuns = (method: "message/send" | "message/stream"): Attempt =>
  flooded(
    `A2A runs, ${method}`,
    async (scene) => {
      const { attacker, slow } = scene
      let answered = 0
      for (let at = 0; at < 80; at += 1) {
        const asked = { ...task(slow, "Hi", method === "message/stream"), method }
        void attacker.post("/a2a", asked).then(
          ({ text }) => (answered += text.includes("Too many") ? 1 : 0),
          () => null
        )
      }
      await until("all tasks", () => callsAt(scene, slow) + answered >= 80)
    },
    ({ model, victim }) => victim.post("/a2a", task(model, "Hi", true)),
    (text) => text.includes('"completed"')
  )

const jobs = (kind: "videos" | "music"): Attempt =>
  scenario(`jobs of ${kind}`, async (scene) => {
    const { arena, attacker, slow, victim } = scene
    const { must } = arena.closed
    await must("PATCH", "/api/settings", { media: { maxJobs: 8 } })
    try {
      const path = `/v1/${kind}/generations`
      const job = { model: slow, prompt: "A gate.", async: true }
      await many(12, () => attacker.post(path, job))
      const { status, text } = await victim.post(path, job)
      return status === 202 ? null : `no room: ${status} ${text.slice(0, 200)}`
    } finally {
      await must("PATCH", "/api/settings", { media: { maxJobs: 200 } })
    }
  })

const preset = { name: "p", endpoint: "chat", model: "m" }
const presets = "/api/playground/presets"

const presetsFilled = flooded(
  "presets, filled",
  ({ attacker }) => many(520, () => attacker.post(presets, preset)),
  ({ victim }) => victim.post(presets, preset),
  (text) => text.includes('"id"')
)

const presetsEmptied = (method: "DELETE" | "PUT"): Attempt =>
  scenario(`presets, ${method}`, async ({ arena, attacker, victim }) => {
    const { id } = JSON.parse((await victim.post(presets, preset)).text).preset
    const path = `${presets}/${id}`
    const headers = { authorization: `Bearer ${attacker.secret}`, "content-type": "application/json" }
    const body = method === "PUT" ? { body: JSON.stringify({ name: "other" }) } : {}
    const { status } = await arena.closed.send({ method, path, headers, ...body })
    const kept = await arena.closed.send({ path, headers: { authorization: `Bearer ${victim.secret}` } })
    return status === 403 && kept.text.includes('"name":"p"') ? null : `${status}, then ${kept.text.slice(0, 100)}`
  })

const opened = (url: string, secret: string): Promise<WebSocket | null> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v1/responses`, {
      headers: { authorization: `Bearer ${secret}` }
    })
    socket.on("open", () => resolve(socket))
    socket.on("error", () => resolve(null))
  })

const sockets = scenario("sockets", async ({ attacker, url, victim }) => {
  const open: Array<WebSocket> = []
  try {
    await many(1_100, async () => {
      const socket = await opened(url, attacker.secret)
      if (socket !== null) open.push(socket)
    })
    const own = await opened(url, victim.secret)
    if (own !== null) open.push(own)
    return own === null ? `no room beside ${open.length} sockets` : null
  } finally {
    for (const socket of open) socket.terminate()
  }
})

const answers = scenario("kept answers", async ({ arena, attacker, model, victim }) => {
  const { must } = arena.closed
  const { cache } = await must("GET", "/api/settings")
  await must("PATCH", "/api/settings", { cache: { enabled: true, maxEntries: 20 } })
  try {
    const asking = (caller: Caller, content: string) =>
      caller.post("/v1/chat/completions", { model, temperature: 0, messages: [{ role: "user", content }] })
    const calls = (): number => arena.asked(model.split("/")[0] ?? "").length
    await asking(victim, "mine")
    await many(100, (at) => asking(attacker, `filler ${at}`))
    const before = calls()
    await asking(victim, "mine")
    return calls() === before ? null : "the answer was not kept"
  } finally {
    await must("PATCH", "/api/settings", { cache })
  }
})

const lines = scenario("lines of batches", async (scene) => {
  const { attacker, model, slow, url, victim } = scene
  const begin = async ({ secret }: Caller, of: string, count: number): Promise<string> => {
    const text = Array.from({ length: count }, (_, at) =>
      JSON.stringify({
        custom_id: `c${at}`,
        method: "POST",
        url: "/v1/chat/completions",
        body: { model: of, messages: [{ role: "user", content: "Hi" }] }
      })
    ).join("\n")
    const form = new FormData()
    form.append("purpose", "batch")
    form.append("file", new File([text], "in.jsonl"))
    const headers = { authorization: `Bearer ${secret}` }
    const file = (await (await fetch(`${url}/v1/files`, { method: "POST", headers, body: form })).json()) as {
      id: string
    }
    const order = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" }
    const answer = await fetch(`${url}/v1/batches`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(order)
    })
    return ((await answer.json()) as { id: string }).id
  }
  // Calls that end one after the other: what counts is who is next then.
  await begin(attacker, slow, 400)
  await until("its lines", () => callsAt(scene, slow) >= 8)
  const own = await begin(victim, model, 8)
  scene.release()
  const headers = { authorization: `Bearer ${victim.secret}` }
  await until("the other batch", async () => {
    const batch = (await (await fetch(`${url}/v1/batches/${own}`, { headers })).json()) as { status: string }
    return batch.status === "completed"
  })
  const before = callsAt(scene, slow)
  return before < 200 ? null : `${before} of 400 lines went first`
})

const underWay = scenario("requests under way", async (scene) => {
  const { arena, attacker, model, slow, victim } = scene
  const { must } = arena.closed
  const { loadShedding } = await must("GET", "/api/resilience")
  await must("PATCH", "/api/resilience", { loadShedding: { maxInFlight: 12 } })
  try {
    let refused = 0
    const asking = (caller: Caller, of: string) =>
      caller.post("/v1/chat/completions", { model: of, messages: [{ role: "user", content: "Hi" }] })
    for (let at = 0; at < 16; at += 1) {
      void asking(attacker, slow).then(
        ({ status }) => (refused += status === 503 ? 1 : 0),
        () => null
      )
    }
    await until("all requests", () => callsAt(scene, slow) + refused >= 16)
    const { status, text } = await asking(victim, model)
    return status === 200 ? null : `no room: ${status} ${text.slice(0, 200)}`
  } finally {
    await must("PATCH", "/api/resilience", { loadShedding })
  }
})

export const pools: AttackClass = {
  name: "pools",
  // They fill what all share.
  atOnce: 1,
  attempts: [
    sessions(true),
    sessions(false),
    mcpCalls(true),
    mcpCalls(false),
    runningTask,
    a2aRuns("message/send"),
    a2aRuns("message/stream"),
    jobs("videos"),
    jobs("music"),
    presetsFilled,
    presetsEmptied("DELETE"),
    presetsEmptied("PUT"),
    sockets,
    underWay,
    answers,
    lines
  ]
}
