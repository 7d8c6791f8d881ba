/** Management bodies that say less than they seem to: a misspelt restriction is no restriction. */
import * as HttpApi from "@effect/platform/HttpApi"
import { GatewayApi } from "../../../src/contract/Api.ts"
import { managementTable } from "../../../src/contract/ManagementRoutes.ts"
import { adminKey, type Arena } from "../Arena.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"

export interface Endpoint {
  readonly method: string
  readonly path: string
}

/** Every endpoint that takes a body, straight from the contract. */
export const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(GatewayApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, payloads }) => {
      const path = String(endpoint.path)
      if (payloads.size > 0 && endpoint.method !== "GET") found.push({ method: endpoint.method, path })
    }
  })
  return found
})()

const misspelt = ["allowedModel", "base_url", "__proto__x", "isactive", "Scopes"]

const unknownField = ({ method, path }: Endpoint, field: string): Attempt => ({
  name: `${method} ${path} with '${field}'`,
  run: async ({ open }: Arena) => {
    const { status, text } = await open.manage(method, path.replaceAll(/:[a-zA-Z]+/g, "none"), { [field]: "x" })
    // Routes for sessions only, and things that are not there, are turned away before.
    if (status === 401 || status === 403) return null
    if (status === 404 && path.includes(":")) return null
    if (status !== 400) return `${status}: ${text.slice(0, 160)}`
    return text.includes(field) || /required|missing/i.test(text)
      ? null
      : `400 without the name of the field: ${text.slice(0, 160)}`
  }
})

const wrongKeys: Readonly<Record<string, object>> = {
  "a misspelt list of models": { name: "k", allowedModel: ["openai/*"] },
  "a misspelt list of models in snake case": { name: "k", allowed_models: ["openai/*"] },
  "models as one text": { name: "k", allowedModels: "openai/*" },
  "an unknown scope": { name: "k", scopes: ["mange"] },
  "a scope with a capital": { name: "k", scopes: ["Admin"] },
  "an end in the past": { name: "k", expiresAt: "2001-01-01T00:00:00Z" },
  "an end that is no date": { name: "k", expiresAt: "soon" },
  "an end as a number of seconds": { name: "k", expiresAt: 1_700_000_000 },
  "a misspelt end": { name: "k", expires: "2099-01-01T00:00:00Z" },
  "limits of nothing": { name: "k", rateLimits: [{ limit: -1, window: 60 }] },
  "limits without a window": { name: "k", rateLimits: [{ limit: 5 }] },
  "limits of too much": { name: "k", rateLimits: [{ limit: 1e308, window: 60 }] },
  "no name": { scopes: [] },
  "a name of controls": { name: "\u0000\u001b[2J" }
}

const keyAttempt = (name: string, body: object): Attempt => ({
  name: `POST /api/keys with ${name}`,
  run: async ({ open }: Arena) => {
    const { status, text } = await open.manage("POST", "/api/keys", body)
    return status === 400 ? null : `${status}: ${text.slice(0, 160)}`
  }
})

const wrongPrices: ReadonlyArray<unknown> = [1e308, 1e30, -1, "free", null, {}]

const priceAttempt = (price: unknown): Attempt => ({
  name: `a price of ${JSON.stringify(price)}`,
  run: async ({ open }: Arena) => {
    const { status, text } = await open.manage("PATCH", "/api/pricing", {
      openai: { "gpt-x": { input: price, output: 1 } }
    })
    return status === 400 ? null : `${status}: ${text.slice(0, 160)}`
  }
})

const ownKey = (place: string, body: (key: string) => object, path = "/api/providers"): Attempt => ({
  name: `a key of this gateway as a provider's, ${place}`,
  run: async ({ open }: Arena) => {
    const { secret } = await open.must("POST", "/api/keys", { name: "own" })
    const { status, text } = await open.manage("POST", path, body(String(secret)))
    if (path.endsWith("validate"))
      return status === 400 || /"valid":false/.test(text) ? null : `${status}: ${text.slice(0, 160)}`
    return status === 400 ? null : `${status}: ${text.slice(0, 160)}`
  }
})

const questions = Object.values(managementTable).filter(({ method, tier }) => method === "GET" && tier === "manage")

/** A filter that is misspelt would show what was to be left out. */
const unknownName = (path: string): Attempt => ({
  name: `GET ${path} with an unknown name in the query`,
  run: async ({ open }: Arena) => {
    const { status, text } = await open.manage("GET", `${path.replaceAll(/:[a-zA-Z]+/g, "none")}?apikeyid=x`)
    return status === 400 && text.includes("apikeyid") ? null : `${status}: ${text.slice(0, 160)}`
  }
})

/** Versions that are not the one that is there. */
const versions = ['"other"', 'W/"other"', '"a", "b"', '"+br"', '""', "other", '"', "*, *", `"${"a".repeat(20_000)}"`]

const otherVersion = (version: string): Attempt => ({
  name: `PUT of settings of another version: ${version.slice(0, 20)}`,
  run: async ({ open }: Arena) => {
    const answer = await fetch(`http://127.0.0.1:${open.port}/api/settings/system-prompt`, {
      method: "PUT",
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", "if-match": version },
      body: JSON.stringify({ prefixPrompt: "taken" })
    })
    return answer.status === 412 || answer.status === 400 || answer.status === 431 ? null : String(answer.status)
  }
})

export const management: AttackClass = {
  name: "bodies that grant by mistake",
  atOnce: 4,
  attempts: [
    ...pairs(endpoints, misspelt).map(([endpoint, field]) => unknownField(endpoint, field)),
    ...Object.entries(wrongKeys).map(([name, body]) => keyAttempt(name, body)),
    ...questions.map(({ path }) => unknownName(path)),
    ...versions.map(otherVersion),
    ...wrongPrices.map(priceAttempt),
    ownKey("when it is made", (apiKey) => ({ provider: "openai", apiKey })),
    ownKey("when it is tried", (apiKey) => ({ provider: "openai", apiKey }), "/api/providers/validate")
  ]
}
