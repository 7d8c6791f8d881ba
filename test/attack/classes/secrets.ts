/** An upstream repeats the credentials it was sent; they are to come back to a client, a listing or a log. */
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import * as Fake from "../../support/FakeUpstream.ts"
import type { Arena } from "../Arena.ts"
import { ask, errorOf, wires } from "../Asks.ts"
import { type Attempt, type AttackClass, type Verdict } from "../Attempt.ts"

/** How a secret may be repeated; `slash/+"` in it makes every form differ from the plain one. */
const forms: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  "percent-encoded": encodeURIComponent,
  "JSON-escaped": (secret) => JSON.stringify(secret).slice(1, -1),
  "JSON-escaped twice": (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  "with escaped slashes": (secret) => secret.replaceAll("/", "\\/"),
  "as base64": (secret) => Buffer.from(secret).toString("base64"),
  "after Bearer": (secret) => `Bearer ${secret}`
}

const statuses: ReadonlyArray<number> = [400, 401, 429, 500]

const tail = '/+"Ωend'
type Kind = "key" | "header"

const leaked = (seen: Readonly<Record<string, string>>, needles: ReadonlyArray<string>): Verdict => {
  for (const [where, text] of Object.entries(seen)) {
    const found = needles.find((needle) => text.includes(needle))
    if (found !== undefined) return `'${found}' stands in ${where}`
  }
  return null
}

const attempt = (
  wire: WireName,
  kind: Kind,
  form: string,
  write: (secret: string) => string,
  status: number
): Attempt => ({
  name: `${wire} ${status}: a ${kind} ${form}`,
  run: async (arena: Arena) => {
    const { open } = arena
    // A multiple of three bytes, so that its base64 is a prefix of the whole secret's.
    const stem = arena.fresh("planted-secret-012345678-")
    // A header takes no letters beyond ASCII.
    const secret = kind === "key" ? `${stem}/+end` : `${stem}${tail.replace("Ω", "")}`
    const { prefix } = await arena.node(open, wire)
    const { id } = await arena.connection(
      open,
      prefix,
      kind === "key" ? { apiKey: secret } : { headers: { "x-secret": secret } }
    )
    arena.answer(prefix, Fake.json(errorOf(wire, status, `Bad credential ${write(secret)} given`), { status }))
    const { body, path } = ask(wire, `${prefix}/m`)
    const answer = await open.send({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const tested = await open.manage("POST", `/api/providers/${id}/test`)
    const shown = await open.manage("GET", `/api/providers/${id}`)
    const listed = await open.manage("GET", "/api/usage/logs?limit=20")
    const requestId = String(answer.headers["x-gateway-request-id"])
    const decided = await open.manage("GET", `/api/routing/decisions/${requestId}`)
    return leaked(
      {
        "the client's answer": answer.text + JSON.stringify(answer.headers),
        "the answer of the test": tested.text,
        "the connection": shown.text,
        "the usage log": listed.text,
        "the decision": decided.text,
        stderr: open.program.stderr()
      },
      [stem, Buffer.from(stem).toString("base64")]
    )
  }
})

export const secrets: AttackClass = {
  name: "secrets that come back",
  atOnce: 4,
  attempts: wires.flatMap((wire) =>
    (["key", "header"] as const).flatMap((kind) =>
      Object.entries(forms).flatMap(([form, write]) =>
        statuses.map((status) => attempt(wire, kind, form, write, status))
      )
    )
  )
}
