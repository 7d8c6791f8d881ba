/** The built program with a fake provider behind it: nodes with faults, alone and in front of healthy ones. */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { type Dispatcher, request } from "undici"
import * as Fake from "../../support/FakeUpstream.ts"
import * as Program from "../../support/Program.ts"
import type { Fault } from "../wall/Fault.ts"
import { healthyModel, type Provider, serve } from "../wall/Provider.ts"
import type { WallWire } from "../wall/Wires.ts"
import type { Offer } from "./Load.ts"

const adminKey = "admin-key-of-the-soak"
const admin = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
const environment = { GATEWAY_ADMIN_KEY: adminKey }

export interface House {
  readonly program: Program.Program
  readonly provider: Provider
  /** Calls the provider has taken and not ended yet. */
  readonly openCalls: () => number
}

/** A management call as administrator, on a socket that it leaves closed; fails the test when it is not answered with 2xx. */
export const manage = async (
  url: string,
  method: Dispatcher.HttpMethod,
  path: string,
  sent?: unknown
  // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
): Promise<any> => {
  const { body, statusCode } = await request(url + path, {
    method,
    headers: admin,
    reset: true,
    ...(sent === undefined ? {} : { body: JSON.stringify(sent) })
  })
  const text = await body.text()
  if (statusCode > 299) throw new Error(`${method} ${path}: ${statusCode} ${text}`)
  return text === "" ? null : JSON.parse(text)
}

const counting = (
  fake: Fake.FakeUpstream,
  remembers: boolean
): { readonly fake: Fake.FakeUpstream; readonly open: () => number } => {
  let open = 0
  const known = fake.requests as Array<Fake.RecordedRequest>
  return {
    open: () => open,
    fake: {
      ...fake,
      always: (answer) =>
        fake.always((response, request) => {
          open += 1
          if (!remembers) known.length = 0
          response.once("close", () => (open -= 1))
          return answer(response, request)
        })
    }
  }
}

/** Where the provider need not remember what it was asked, a long run does not fill the memory. */
export const start = (faults: ReadonlyArray<Fault>, remembers = true): Effect.Effect<House, never, Scope> =>
  Effect.gen(function* () {
    const { fake, open } = counting(yield* Fake.start, remembers)
    const provider = serve(fake, faults)
    const program = yield* Program.start(environment)
    return { program, provider, openCalls: open }
  })

export const restart = (house: House): Effect.Effect<House, never, Scope> =>
  Effect.map(Program.start(environment, house.program.dataDir), (program) => ({ ...house, program }))

const types = { chat: "openai-compatible", responses: "openai-compatible", messages: "anthropic-compatible" } as const

const connect = async (
  { program, provider }: House,
  prefix: string,
  wire: WallWire,
  model: string,
  more: object = {}
): Promise<string> => {
  const baseUrl = `${provider.fake.origin}/${prefix}/v1`
  const node = { name: prefix, prefix, type: types[wire], baseUrl, wires: [wire] }
  await manage(program.url, "POST", "/api/provider-nodes", node)
  const connection = { provider: prefix, name: prefix, apiKey: `key-of-${prefix}`, models: [model], ...more }
  return (await manage(program.url, "POST", "/api/providers", connection)).connection.id
}

const healthy = (wire: WallWire): string => `well-${wire}`

/** Healthy nodes of the wires; few places each, so that the line in front of them is used, too. */
export const furnish = async (house: House, wires: ReadonlyArray<WallWire>): Promise<ReadonlyArray<Offer>> => {
  for (const wire of wires) await connect(house, healthy(wire), wire, healthyModel, { max_concurrent: 30 })
  return wires.map((wire) => ({ model: `${healthy(wire)}/${healthyModel}`, wire }))
}

export interface Furnished {
  readonly node: string
  readonly connectionId: string
  readonly alone: Offer
  /** The faulty node in front of a healthy one. */
  readonly pair: Offer
}

export const addFault = async (house: House, fault: Fault, wire: WallWire): Promise<Furnished> => {
  const node = `${fault.name}-${wire}`
  const connectionId = await connect(house, node, wire, fault.name)
  const alone = `${node}/${fault.name}`
  const name = `pair-${node}`
  const targets = [{ model: alone }, { model: `${healthy(wire)}/${healthyModel}` }]
  await manage(house.program.url, "POST", "/api/combos", { name, strategy: "priority", targets })
  return { node, connectionId, alone: { model: alone, wire }, pair: { model: name, wire } }
}

interface UsageRow {
  readonly requestId: string
  readonly outcome: string
}

/** All usage rows, newest first. */
export const usageRows = async (url: string): Promise<ReadonlyArray<UsageRow>> => {
  const rows: Array<UsageRow> = []
  let cursor: string | null = null
  do {
    const page: { logs: ReadonlyArray<UsageRow>; nextCursor: string | null } = await manage(
      url,
      "GET",
      `/api/usage/logs?limit=1000${cursor === null ? "" : `&cursor=${cursor}`}`
    )
    for (const { outcome, requestId } of page.logs) rows.push({ outcome, requestId })
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}
