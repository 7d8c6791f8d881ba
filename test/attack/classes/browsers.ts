/** A web page, or a host name rebound to this machine, sends requests in the name of its visitor. */
import { randomBytes } from "node:crypto"
import { edgeRoutes } from "../../../src/contract/EdgeRoutes.ts"
import { routes } from "../../../src/contract/Routes.ts"
import type { Arena } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"

type Headers = (port: number) => Readonly<Record<string, string>>

/** What a browser sends along that is not the user's own doing. */
const disguises: Readonly<Record<string, Headers>> = {
  "a foreign origin": () => ({ origin: "https://evil.example" }),
  "an origin of no site": () => ({ origin: "null" }),
  "an origin that begins like ours": (port) => ({ origin: `http://127.0.0.1:${port}.evil.example` }),
  "a cross-site request": () => ({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }),
  "a same-site request": () => ({ "sec-fetch-site": "same-site" }),
  "a rebound name": (port) => ({ host: `evil.example:${port}` }),
  "a rebound name without a port": () => ({ host: "evil.example" }),
  "a name that ends like ours": (port) => ({ host: `127.0.0.1.evil.example:${port}` }),
  "a name that begins with localhost": (port) => ({ host: `localhost.evil.example:${port}` }),
  "a rebound name that is its own origin": (port) => ({
    host: `evil.example:${port}`,
    origin: `http://evil.example:${port}`,
    "sec-fetch-site": "same-origin"
  }),
  "a form": () => ({ origin: "https://evil.example", "content-type": "text/plain" })
}

const filled = (path: string): string =>
  path
    .replace("/*", "/models/m:generateContent")
    .replaceAll(/:(?:provider|token)/g, "openai")
    .replaceAll(/:[a-zA-Z]+/g, "none")

/** Public answers without user data may be read by any page. */
const saysNothing = new Set([
  "system.ping",
  "system.openapi",
  "system.docs",
  "system.docsFile",
  "system.dashboard",
  "system.root"
])

const targets = [
  ...new Map(
    [...edgeRoutes, ...routes].map(({ key, method, path }) => [
      `${method} ${filled(path)}`,
      { key, method, path: filled(path) }
    ])
  ).values()
].filter(({ key }) => !saysNothing.has(key))

const byRoute: ReadonlyArray<Attempt> = pairs(targets, Object.entries(disguises)).map(
  ([{ method, path }, [name, headersOf]]) => ({
    name: `${method} ${path} with ${name}`,
    run: async ({ open }) => {
      const { status, text } = await open.send({
        method,
        path,
        headers: { "content-type": "application/json", ...headersOf(open.port) },
        ...(method === "GET" ? {} : { body: JSON.stringify({ model: "none/m", messages: [] }) })
      })
      // Management routes may also find the key missing first.
      return status === 403 || status === 401 ? null : `${status}: ${text.slice(0, 120)}`
    }
  })
)

const socketPaths = ["/v1/responses", "/responses", "/api/v1/responses"]

const bySocket: ReadonlyArray<Attempt> = pairs(socketPaths, Object.entries(disguises)).map(
  ([path, [name, headersOf]]) => ({
    name: `a socket at ${path} with ${name}`,
    run: async ({ open }) => {
      const { status } = await open.send({
        path,
        headers: {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": randomBytes(16).toString("base64"),
          ...headersOf(open.port)
        }
      })
      return status === 403 ? null : `answered with ${status}`
    }
  })
)

/** The whole of it once: nothing may have been spent. */
const spends = (name: string, headersOf: Headers): Attempt => ({
  name: `a question that costs money with ${name}`,
  run: async (arena: Arena) => {
    const { prefix } = await arena.node(arena.open, "chat")
    await arena.connection(arena.open, prefix)
    const body = JSON.stringify({ model: `${prefix}/m`, messages: [{ role: "user", content: "Hi" }] })
    const { status } = await arena.open.send({
      method: "POST",
      path: "/v1/chat/completions",
      headers: { "content-type": "application/json", ...headersOf(arena.open.port) },
      body
    })
    const calls = arena.asked(prefix).length
    return status === 403 && calls === 0 ? null : `${status}, ${calls} calls were made`
  }
})

const byPurse = Object.entries(disguises).map(([name, headersOf]) => spends(name, headersOf))

export const browsers: AttackClass = {
  name: "web pages and rebound names",
  atOnce: 8,
  attempts: [...byRoute, ...bySocket, ...byPurse]
}
