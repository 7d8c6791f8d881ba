/**
 * Where attacks happen: the built program twice (once open to this machine, once with keys required), an upstream whose secrets are to be
 * kept, and a trap that an attacker owns.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { join } from "node:path"
import type { WireName } from "../../src/contract/domain/Wire.ts"
import * as Fake from "../support/FakeUpstream.ts"
import { startIssuer, type TestIssuer } from "../support/issuer/TestIssuer.ts"
import * as Program from "../support/Program.ts"
import { answerOf } from "./Asks.ts"
import { type Answer, type Call, send } from "./RawHttp.ts"
import { stallFile } from "./Stalls.ts"

export const adminKey = "admin-key-of-the-attack-suite-0123"

/** For records that are handed in to watched gateways. */
export const ingestToken = "ingest-token-of-the-attack-suite"

export interface Gateway {
  readonly port: number
  readonly program: Program.Program
  readonly send: (call: Call) => Promise<Answer>
  /** As administrator; the answer is given whatever its status. */
  readonly manage: (method: string, path: string, body?: unknown) => Promise<Answer>
  /** As administrator; throws unless it is answered with 2xx. */
  // eslint-disable-next-line typescript/no-explicit-any -- attacks read into answers as they please
  readonly must: (method: string, path: string, body?: unknown) => Promise<any>
}

export interface Node {
  readonly id: string
  readonly prefix: string
}

export interface Arena {
  /** Keys are not required: every program of this machine may ask, and no web page. */
  readonly open: Gateway
  /** Keys are required. */
  readonly closed: Gateway
  /** A gateway with these flags that tells how long its event loop stood still (`Stalls.ts`). It ends with the arena. */
  readonly watched: (flags: Readonly<Record<string, string>>) => Promise<Gateway>
  /** A real directory that signs people in. It ends with the arena. */
  readonly issuer: () => Promise<TestIssuer>
  readonly upstream: Fake.FakeUpstream
  readonly trap: Fake.FakeUpstream
  /** A word that no earlier attempt has used. */
  readonly fresh: (stem: string) => string
  /** A node at a folder of its own of `upstream`, which answers as a plain model until told otherwise. */
  readonly node: (gateway: Gateway, wire: WireName, more?: object) => Promise<Node>
  readonly connection: (gateway: Gateway, provider: string, more?: object) => Promise<{ readonly id: string }>
  /** What the upstream says to everything it is asked through this node from now on. */
  readonly answer: (prefix: string, answer: Fake.Answer) => void
  /** What the upstream was asked through this node, lists of models left out. */
  readonly asked: (prefix: string) => ReadonlyArray<Fake.RecordedRequest>
}

export const gatewayOf = (program: Program.Program): Gateway => {
  const port = Number(new URL(program.url).port)
  const manage: Gateway["manage"] = (method, path, body) =>
    send(port, {
      method,
      path,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
  return {
    port,
    program,
    send: (call) => send(port, call),
    manage,
    must: async (method, path, body) => {
      const { status, text } = await manage(method, path, body)
      if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`)
      return text === "" ? null : JSON.parse(text)
    }
  }
}

const nodeType: Readonly<Record<WireName, string>> = {
  chat: "openai-compatible",
  responses: "openai-compatible",
  messages: "anthropic-compatible",
  gemini: "gemini-compatible",
  ollama: "ollama-compatible"
}

export const baseUrlOf = (origin: string, wire: WireName): string => (wire === "ollama" ? origin : `${origin}/v1`)

export const start: Effect.Effect<Arena, never, Scope.Scope> = Effect.gen(function* () {
  const common = { GATEWAY_ADMIN_KEY: adminKey, ALLOW_MULTI_CONNECTIONS_PER_COMPAT_NODE: "true" }
  const open = gatewayOf(yield* Program.start(common))
  const closed = gatewayOf(yield* Program.start({ ...common, REQUIRE_API_KEY: "true" }))
  const scope = yield* Effect.scope
  const watched = (flags: Readonly<Record<string, string>>): Promise<Gateway> =>
    Effect.gen(function* () {
      const folder = yield* Program.dataFolder
      const env = {
        ...common,
        ...flags,
        NODE_OPTIONS: `--import ${new URL("stallProbe.mjs", import.meta.url).href}`,
        STALL_FILE: join(folder, stallFile),
        INSPECTOR_INTERNAL_INGEST_TOKEN: ingestToken
      }
      return gatewayOf(yield* Program.start(env, folder))
    }).pipe(Scope.extend(scope), Effect.runPromise)
  const upstream = yield* Fake.start
  const trap = yield* Fake.start
  trap.always(Fake.json({ data: [] }))
  const answers = new Map<string, Fake.Answer>()
  upstream.always((response, request) => {
    const prefix = request.url.split("/")[1] ?? ""
    const list = Fake.json({ data: [{ id: "m" }], models: [{ name: "m" }] })
    const answer = request.method === "GET" ? list : (answers.get(prefix) ?? list)
    return answer(response, request)
  })
  let count = 0
  const fresh = (stem: string): string => stem + String(++count).padStart(5, "0")
  return {
    open,
    closed,
    watched,
    issuer: () => Effect.runPromise(Scope.extend(startIssuer, scope)),
    upstream,
    trap,
    fresh,
    node: async (gateway, wire, more = {}) => {
      const prefix = fresh("n")
      const { node } = await gateway.must("POST", "/api/provider-nodes", {
        name: prefix,
        prefix,
        type: nodeType[wire],
        baseUrl: baseUrlOf(`${upstream.origin}/${prefix}`, wire),
        wires: [wire],
        ...more
      })
      answers.set(prefix, Fake.json(answerOf(wire)))
      return { id: node.id, prefix }
    },
    connection: async (gateway, provider, more = {}) => {
      const { connection } = await gateway.must("POST", "/api/providers", {
        provider,
        name: fresh("account"),
        apiKey: fresh("upstream-key-0123456789-"),
        models: ["m"],
        ...more
      })
      return connection
    },
    answer: (prefix, answer) => void answers.set(prefix, answer),
    asked: (prefix) => upstream.requests.filter(({ method, url }) => method === "POST" && url.startsWith(`/${prefix}/`))
  }
})
