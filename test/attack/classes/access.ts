/** Every route with every credential that must not open it, and with spellings of its path that look for a way round. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { routes } from "../../../src/contract/Routes.ts"
import type { Arena, Gateway } from "../Arena.ts"
import { adminKey } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"

const filled = (path: string): string =>
  path
    .replace("/*", "/models/m:generateContent")
    .replaceAll(/:(?:provider|token)/g, "openai")
    .replaceAll(/:[a-zA-Z]+/g, "none")

const guarded = [
  ...new Map(
    routes
      // Figures and logins by a code are free on this machine, where the attempts come from.
      .filter(({ tier }) => tier !== "public" && tier !== "scrape" && tier !== "local")
      .map(({ method, path, tier }) => [`${method} ${path}`, { method, path: filled(path), tier }])
  ).values()
]

// A route of the tier `known` tells any caller with a credential of its own who it is.
const management = guarded.filter(({ tier }) => tier !== "inference" && tier !== "known")
const inference = guarded.filter(({ path, tier }) => tier === "inference" && !path.includes("/editor/"))

const keys = new Map<string, Promise<string>>()

/** A key of a kind, made once. */
const keyOf = (gateway: Gateway, kind: "plain" | "revoked" | "usage"): Promise<string> => {
  const known = keys.get(kind)
  if (known !== undefined) return known
  const made = (async () => {
    const { key, secret } = await gateway.must("POST", "/api/keys", { name: `attack ${kind}` })
    // What every new key may do: read of its own use.
    if (kind === "plain") await gateway.must("PATCH", `/api/keys/${key.id}`, { scopes: [] })
    if (kind === "revoked") await gateway.must("DELETE", `/api/keys/${key.id}`)
    return String(secret)
  })()
  keys.set(kind, made)
  return made
}

interface Disguise {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

type Credential = (gateway: Gateway) => Disguise | Promise<Disguise>

const bearer = (key: string): Disguise => ({ headers: { authorization: `Bearer ${key}` } })

/** The owner's token as its file has it: what somebody would send who got hold of it, or of a browser of the owner. */
const ownerToken = ({ program }: Gateway): string =>
  JSON.parse(readFileSync(join(program.dataDir, "owner-token.json"), "utf8")).token

const owner =
  (headers: Readonly<Record<string, string>>): Credential =>
  (gateway) => ({ headers: { authorization: `Bearer ${ownerToken(gateway)}`, ...headers } })

const never: Readonly<Record<string, Credential>> = {
  "no key": () => ({}),
  "a wrong key": () => bearer("wrong"),
  "an empty key": () => bearer(""),
  "a revoked key": async (gateway) => bearer(await keyOf(gateway, "revoked")),
  "the admin key without its last letter": () => bearer(adminKey.slice(0, -1)),
  "a forged key of the right form": () => bearer(`gw_${"A".repeat(43)}`),
  "a cookie made up": () => ({ headers: { cookie: "gateway_session=AAAA; session=admin" } }),
  "the owner's token through a proxy": owner({ "x-forwarded-for": "127.0.0.1" }),
  "the owner's token through a tunnel": owner({ "cf-ray": "1", "cdn-loop": "tunnel" }),
  "the owner's token from a page": owner({ origin: "http://127.0.0.1", "sec-fetch-site": "same-origin" }),
  "the owner's token with a cookie": owner({ cookie: "a=b" }),
  "the owner's token under another name": owner({ host: "gateway.example" }),
  "the owner's token as x-api-key": (gateway) => ({ headers: { "x-api-key": ownerToken(gateway) } }),
  "the owner's token in the query": (gateway) => ({ path: `?key=${ownerToken(gateway)}` }),
  "headers of a proxy that say loopback": () => ({
    headers: { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", forwarded: "for=127.0.0.1" }
  })
}

const notForManagement: Readonly<Record<string, Credential>> = {
  "an inference key": async (gateway) => bearer(await keyOf(gateway, "plain")),
  "the admin key as x-api-key": () => ({ headers: { "x-api-key": adminKey } }),
  "the admin key as x-goog-api-key": () => ({ headers: { "x-goog-api-key": adminKey } }),
  "the admin key in the query, token": () => ({ path: `?token=${adminKey}` }),
  "the admin key in the query, apiKey": () => ({ path: `?apiKey=${adminKey}` }),
  "the admin key in the query, api_key": () => ({ path: `?api_key=${adminKey}` }),
  "the admin key in the query, key": () => ({ path: `?key=${adminKey}` })
}

/** Spellings of one path. */
const spellings: Readonly<Record<string, (path: string) => string>> = {
  "a second slash": (path) => path.replace("/", "//"),
  "a slash at the end": (path) => `${path}/`,
  "upper case": (path) => path.toUpperCase(),
  "an escaped slash": (path) => path.replace(/(.)\//, "$1%2f"),
  "an escaped letter": (path) =>
    path.replace(/\/([a-z])/, (_, letter: string) => `/%${letter.charCodeAt(0).toString(16)}`),
  "a walk down and up": (path) => `/x/..${path}`,
  "an escaped walk down and up": (path) => `/v1/models/%2e%2e/%2e%2e${path}`,
  "a public route before it": (path) => `/api/health/ping/../../..${path}`,
  "a semicolon": (path) => `${path};/api/health/ping`,
  "a whole address": (path) => `http://127.0.0.1${path}`,
  "a fragment": (path) => `${path}#/api/health/ping`,
  "a null byte": (path) => `${path}%00`
}

const attempt = (
  { method, path }: { readonly method: string; readonly path: string },
  name: string,
  credential: Credential,
  spell: (path: string) => string = (plain) => plain
): Attempt => ({
  name: `${method} ${path} with ${name}`,
  run: async ({ closed }: Arena) => {
    const { headers = {}, path: query = "" } = await credential(closed)
    const { status, text } = await closed.send({
      method,
      path: spell(path) + query,
      headers: { "content-type": "application/json", ...headers },
      ...(method === "GET" || method === "DELETE" ? {} : { body: "{}" })
    })
    // A spelling that is no route at all is turned away as well.
    return [400, 401, 403, 404, 405].includes(status) && (status !== 404 || spell(path) !== path)
      ? null
      : `${status}: ${text.slice(0, 120)}`
  }
})

const noKey: Credential = () => ({})

export const access: AttackClass = {
  name: "routes without the right to them",
  atOnce: 8,
  attempts: [
    ...pairs(
      guarded.filter(({ path }) => !path.includes("/editor/")),
      Object.entries(never)
    ).map(([route, [name, credential]]) => attempt(route, name, credential)),
    ...pairs(management, Object.entries(notForManagement)).map(([route, [name, credential]]) =>
      attempt(route, name, credential)
    ),
    ...pairs([...management.slice(0, 12), ...inference.slice(0, 8)], Object.entries(spellings)).map(
      ([route, [name, spell]]) => attempt(route, `${name} and no key`, noKey, spell)
    )
  ]
}
