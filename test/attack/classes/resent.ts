/**
 * A record that somebody handed in is sent again to "its own server": to reach this machine's network, or to have a stored credential sent to
 * another address. The trap listens on 127.0.0.1, where a connection of the operator is allowed to be.
 */
import { type Arena, type Gateway, ingestToken } from "../Arena.ts"
import type { Attempt, AttackClass, Verdict } from "../Attempt.ts"
import { pairs } from "../Attempt.ts"
import { once } from "../Once.ts"

const inspector = "/api/tools/traffic-inspector"
const stored = "sk-stored-4f8Gh2kLm9Qw4Zx8Vb1NcPq7Rt5"

interface Scene {
  readonly gateway: Gateway
  readonly connectionId: string
}

/** The operator's own connection is on this machine, and allowed. */
const scene = once(async (arena: Arena): Promise<Scene> => {
  const gateway = await arena.watched({ GATEWAY_ALLOW_LOCAL_PROVIDER_URLS: "true" })
  const { prefix } = await arena.node(gateway, "chat")
  const { id } = await arena.connection(gateway, prefix, { apiKey: stored })
  return { gateway, connectionId: id }
})

const hosts: ReadonlyArray<(trap: number, own: string) => string> = [
  (trap) => `127.0.0.1:${trap}`,
  (trap) => `localhost:${trap}`,
  (trap) => `localhost.:${trap}`,
  (trap) => `127.1:${trap}`,
  (trap) => `2130706433:${trap}`,
  (trap) => `0x7f000001:${trap}`,
  (trap) => `0177.0.0.1:${trap}`,
  (trap) => `0.0.0.0:${trap}`,
  (trap) => `[::1]:${trap}`,
  (trap) => `[::ffff:127.0.0.1]:${trap}`,
  (trap) => `[64:ff9b::7f00:1]:${trap}`,
  (trap, own) => `${own}@127.0.0.1:${trap}`,
  (trap, own) => `${own}/@127.0.0.1:${trap}`,
  (trap, own) => `${own}#127.0.0.1:${trap}`,
  (trap, own) => `${own}\\@127.0.0.1:${trap}`,
  (trap, own) => `127.0.0.1:${trap}/${own}`,
  (trap, own) => `127.0.0.1:${trap}#${own}`,
  (trap, own) => `127.0.0.1:${trap}?${own}`,
  () => "169.254.169.254",
  () => "metadata.google.internal"
]

const paths: ReadonlyArray<(trap: number) => string> = [
  () => "/v1/chat/completions",
  (trap) => `//127.0.0.1:${trap}/v1`,
  (trap) => `/\\127.0.0.1:${trap}/v1`,
  (trap) => `@127.0.0.1:${trap}/v1`,
  (trap) => `http://127.0.0.1:${trap}/v1`
]

/** What is asked with the record: nothing, a key that was given, or a stored one. */
const asks: Readonly<Record<string, (scene: Scene) => object>> = {
  "nothing more": () => ({}),
  "a key that is given": () => ({ headers: { authorization: "Bearer given" } }),
  "the operator's connection": ({ connectionId }) => ({ connectionId })
}

const attempt = (
  name: string,
  hostOf: (trap: number, own: string) => string,
  pathOf: (trap: number) => string,
  more: (scene: Scene) => object
): Attempt => ({
  name,
  run: async (arena): Promise<Verdict> => {
    const shared = await scene(arena)
    const { gateway } = shared
    const trap = Number(new URL(arena.trap.origin).port)
    const id = arena.fresh("resent")
    const record = {
      id,
      timestamp: "2026-01-01T00:00:00Z",
      method: "POST",
      scheme: "http",
      host: hostOf(trap, new URL(arena.upstream.origin).host),
      path: pathOf(trap),
      source: "http-proxy",
      requestHeaders: { "x-attempt": id, authorization: `Bearer ${stored}` },
      requestBody: "{}",
      requestSize: 2,
      responseHeaders: {},
      responseSize: 0,
      status: 200
    }
    await gateway.send({
      method: "POST",
      path: `${inspector}/internal/ingest`,
      headers: { authorization: `Bearer ${ingestToken}`, "content-type": "application/json" },
      body: JSON.stringify(record)
    })
    const { status, text } = await gateway.manage("POST", `${inspector}/requests/${id}/replay-direct`, more(shared))
    if (text.includes(stored)) return `the answer holds the stored credential: ${text.slice(0, 160)}`
    const caught = arena.trap.requests.some(({ headers, url }) => headers["x-attempt"] === id || url.includes(id))
    if (caught) return `the trap was reached (${status})`
    const isSeen = arena.trap.requests.some(({ headers }) => JSON.stringify(headers).includes(stored))
    return isSeen ? "the trap received the stored credential" : null
  }
})

const own = (_trap: number, host: string): string => host

export const resent: AttackClass = {
  name: "captured requests that are sent again",
  atOnce: 4,
  attempts: [
    ...pairs(hosts, Object.entries(asks)).map(([hostOf, [words, more]]) =>
      attempt(`to ${hostOf(1, "own")}, with ${words}`, hostOf, () => "/v1/chat/completions", more)
    ),
    ...pairs(paths, Object.entries(asks)).map(([pathOf, [words, more]]) =>
      attempt(`at ${pathOf(1)}, with ${words}`, own, pathOf, more)
    )
  ]
}
