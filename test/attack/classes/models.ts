/** A key that may use one model tries to have another asked. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { Arena } from "../Arena.ts"
import { ask, wires } from "../Asks.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"

const other = "forbidden-model"

/** What some upstreams read a model's name from; given the body as text with `"model":…` in it. */
const tricks: Readonly<Record<string, (text: string) => string>> = {
  "a list of models": (text) => text.replace(/\}$/, `,"models":["${other}"]}`),
  "a route and a list of models": (text) => text.replace(/\}$/, `,"route":"fallback","models":["${other}"]}`),
  "fallbacks as texts": (text) => text.replace(/\}$/, `,"fallbacks":["${other}"]}`),
  "fallbacks as objects": (text) => text.replace(/\}$/, `,"fallbacks":[{"model":"${other}"}]}`),
  "fallback models": (text) => text.replace(/\}$/, `,"fallback_models":["${other}"]}`),
  "a second model": (text) => text.replace(/\}$/, `,"model":"${other}"}`),
  "a first model": (text) => text.replace(/^\{/, `{"model":"${other}",`),
  "a model with a capital": (text) => text.replace(/\}$/, `,"Model":"${other}"}`),
  "a model in capitals": (text) => text.replace(/\}$/, `,"MODEL":"${other}"}`),
  "a model with an escaped name": (text) => text.replace(/\}$/, `,"m\\u006fdel":"${other}"}`),
  "models with a capital": (text) => text.replace(/\}$/, `,"Models":["${other}"]}`),
  "an extra body": (text) => text.replace(/\}$/, `,"extra_body":{"model":"${other}","models":["${other}"]}}`),
  "another model's id": (text) => text.replace(/\}$/, `,"model_id":"${other}","modelId":"${other}"}`),
  "an engine": (text) => text.replace(/\}$/, `,"engine":"${other}"}`),
  "a draft model": (text) => text.replace(/\}$/, `,"speculative_model":"${other}","draft_model":"${other}"}`)
}

const attempt = (wire: WireName, name: string, trick: (text: string) => string): Attempt => ({
  name: `${wire}: ${name}`,
  run: async (arena: Arena) => {
    const { closed } = arena
    const { prefix } = await arena.node(closed, wire)
    await arena.connection(closed, prefix, { models: ["m", other] })
    const { secret } = await closed.must("POST", "/api/keys", {
      name: arena.fresh("key"),
      allowedModels: [`${prefix}/m`]
    })
    const { body, path } = ask(wire, `${prefix}/m`)
    // Gemini has its model in the path; an upstream may read the body all the same.
    const text = trick(JSON.stringify({ ...body, ...(wire === "gemini" ? { model: `${prefix}/m` } : {}) }))
    await closed.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: text
    })
    const sent = arena.asked(prefix).find(({ body: seen, url }) => seen.includes(other) || url.includes(other))
    return sent === undefined ? null : `the upstream was asked: ${sent.body.slice(0, 200)}`
  }
})

/** Other names for the forbidden model. */
const names: ReadonlyArray<(prefix: string) => string> = [
  (prefix) => `${prefix}/${other}`,
  (prefix) => `${prefix}/${other} `,
  (prefix) => `${prefix.toUpperCase()}/${other}`,
  (prefix) => `${prefix}/m/../${other}`,
  (prefix) => `${prefix}//${other}`,
  (prefix) => `models/${prefix}/${other}`,
  (prefix) => `claude-3-gateway-no-thinking/${prefix}/${other}`,
  (prefix) => `qtSd/group/${prefix}/${other}`,
  () => other,
  () => `auto`,
  () => `auto/coding`,
  (prefix) => `${prefix}/m,${prefix}/${other}`,
  (prefix) => `combo:${prefix}`,
  (prefix) => `${prefix}/${other}:latest`
]

const byName = (wire: WireName, index: number, nameOf: (prefix: string) => string): Attempt => ({
  name: `${wire}: name ${index}`,
  run: async (arena: Arena) => {
    const { closed } = arena
    const { prefix } = await arena.node(closed, wire)
    await arena.connection(closed, prefix, { models: [other] })
    const { secret } = await closed.must("POST", "/api/keys", {
      name: arena.fresh("key"),
      allowedModels: [`${prefix}/m`]
    })
    const { body, path } = ask(wire, nameOf(prefix))
    const { status } = await closed.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify(body)
    })
    const calls = arena.asked(prefix).length
    return calls === 0 && status >= 400 ? null : `${status}, ${calls} calls`
  }
})

export const models: AttackClass = {
  name: "models a key may not use",
  atOnce: 4,
  attempts: [
    ...pairs(wires, Object.entries(tricks)).map(([wire, [name, trick]]) => attempt(wire, name, trick)),
    ...pairs(
      wires,
      names.map((nameOf, index) => [index, nameOf] as const)
    ).map(([wire, [index, nameOf]]) => byName(wire, index, nameOf))
  ]
}
