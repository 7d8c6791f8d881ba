/** Keys of providers in variables, as a declared document that refers to them. Values are never part of it, except addresses. Pure. */
import type { JsonObject } from "../../../wire/json/Json.ts"
import { escaped } from "../Variables.ts"
import { changed, type Imported, leftOut, type Row, taken } from "./Imported.ts"

export interface KeyVariables {
  readonly id: string
  /** Names of the variables that its documentation gives, the usual one first. */
  readonly env: ReadonlyArray<string>
}

/**
 * Variables with addresses, and what theirs lack of the provider's here.
 * https://github.com/openai/openai-python, https://github.com/anthropics/anthropic-sdk-python
 */
const addresses: Readonly<Record<string, { readonly variable: string; readonly path: string }>> = {
  openai: { variable: "OPENAI_BASE_URL", path: "" },
  anthropic: { variable: "ANTHROPIC_BASE_URL", path: "/v1" }
}

const keyName = /^[A-Z][\dA-Z_]*_API_KEY$/

/** Keys of this gateway, which are no provider's. */
const own: ReadonlySet<string> = new Set(["GATEWAY_API_KEY", "REQUIRE_API_KEY"])

/** An http address without a trailing slash, with the path; null: it is none, or may hold a secret. */
const addressOf = (value: string | undefined, path: string): string | null => {
  const text = value?.trim() ?? ""
  if (!URL.canParse(text)) return null
  const { hash, password, protocol, search, username } = new URL(text)
  const isPlain = `${username}${password}${search}${hash}` === "" && /^https?:$/.test(protocol)
  if (!isPlain) return null
  const base = text.replace(/\/+$/, "")
  return base.endsWith(path) ? base : `${base}${path}`
}

/** `isGatewayKey`: whether a value is a key of a gateway like this one. */
export const readEnvironment = (
  environment: ReadonlyMap<string, string>,
  providers: ReadonlyArray<KeyVariables>,
  isGatewayKey: (value: string) => boolean
): Imported => {
  const rows: Array<Row> = []
  const connections: Array<JsonObject> = []
  const documented = new Set(providers.flatMap(({ env }) => env))
  const isSet = (name: string): boolean => (environment.get(name)?.trim() ?? "") !== ""
  for (const { env, id } of providers) {
    const set = env.filter(isSet)
    const isForeign = (variable: string): boolean => isGatewayKey(environment.get(variable) ?? "")
    for (const foreign of set.filter(isForeign)) {
      rows.push(leftOut(`${foreign} (${id})`, "It holds a key of a gateway, not of the provider."))
    }
    const { path = "", variable } = addresses[id] ?? {}
    const [name, ...others] = set.filter((one) => !isForeign(one))
    if (name === undefined) {
      if (variable !== undefined && isSet(variable))
        rows.push(leftOut(`${variable} (${id})`, "There is no key with it."))
      continue
    }
    const what = `${name} (${id})`
    const hasAddress = variable !== undefined && isSet(variable)
    const baseUrl = variable === undefined ? null : addressOf(environment.get(variable), path)
    if (hasAddress && baseUrl === null) {
      rows.push(
        leftOut(
          what,
          `${variable} is no plain http address (without a password, a query and a fragment); the key is meant for it.`
        )
      )
      continue
    }
    connections.push({
      provider: id,
      name: "imported",
      apiKey: `\${${name}}`,
      ...(baseUrl === null ? {} : { baseUrl: escaped(baseUrl) })
    })
    rows.push(baseUrl === null ? taken(what) : changed(what, `At the address in ${variable ?? ""}.`))
    for (const other of others) rows.push(leftOut(`${other} (${id})`, `${name} is taken for this provider.`))
  }
  for (const name of [...environment.keys()].toSorted()) {
    if (!keyName.test(name) || documented.has(name) || own.has(name) || !isSet(name)) continue
    rows.push(leftOut(name, "No provider here documents it; 'gateway provider add <provider> --api-key-env' uses it."))
  }
  return { document: { version: 1, ...(connections.length > 0 ? { connections } : {}) }, rows }
}
