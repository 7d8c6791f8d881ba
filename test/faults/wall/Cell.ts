/** One cell of the wall: a fresh node with the fault, one question by an official SDK, and all that can be seen afterwards. */
import type { Timeouts } from "../../../src/subjects/resilience/entity.ts"
import { lastWithin } from "../../support/eventually.ts"
import * as Program from "../../support/Program.ts"
import type { TestGateway } from "../../support/TestGateway.ts"
import { type Ask, type Ending, makeAsk } from "./Clients.ts"
import { baseCooldownMs, type Expected, type Fault } from "./Fault.ts"
import { healthyModel, type Provider } from "./Provider.ts"
import type { ClientWire, WallWire } from "./Wires.ts"

export interface Cell {
  readonly fault: Fault
  readonly expected: Expected
  readonly client: ClientWire
  readonly upstream: WallWire
  readonly streamed: boolean
  /** Alone, or in front of a healthy node. */
  readonly targets: 1 | 2
}

/** A row of `GET /api/usage/logs`, as far as it is looked at. */
export interface Row {
  readonly requestId: string
  readonly requestedModel: string
  readonly provider: string | null
  readonly outcome: string
  readonly status: number
  readonly attempts: number
  readonly tokens: { readonly in: number; readonly out: number }
  readonly costUsd: number
  readonly usageSource: string
}

export interface Seen {
  readonly ending: Ending
  /** The same question once more; null where it was not asked. */
  readonly again: Ending | null
  readonly faultyCalls: number
  readonly healthyCalls: number
  readonly faultyCallsAgain: number
  readonly renewals: number
  readonly testStatus: string
  readonly backoffLevel: number
  /** How long the connection cools; it began between question and answer. Null when it does not. */
  readonly coolsMs: { readonly sinceAnswer: number; readonly sinceQuestion: number } | null
  readonly breakerFailures: number
  readonly rows: ReadonlyArray<Row>
  readonly node: string
  readonly healthyNode: string
}

export interface Wall {
  readonly gateway: TestGateway
  /** Sets the limits of a row and gives it healthy nodes of its own. */
  readonly startRow: (limits: Partial<Timeouts>) => Promise<void>
  readonly run: (cell: Cell) => Promise<Seen>
  /** Requests sent so far, by the model that was asked for. */
  readonly sent: ReadonlyMap<string, number>
}

/** Room for a busy machine. */
export const timeouts = { connectMs: 5_000, firstByteMs: 8_000, idleMs: 8_000, totalMs: 60_000 }

const types = { chat: "openai-compatible", responses: "openai-compatible", messages: "anthropic-compatible" } as const

/** Where a fault's node leads to. */
const originOf = (fault: Fault, provider: Provider, closedPort: number): string => {
  if (fault.at === "closed port") return `http://127.0.0.1:${closedPort}`
  if (fault.at === "no such name") return "http://no-such-provider.invalid"
  return fault.at === "no TLS" ? provider.fake.origin.replace("http:", "https:") : provider.fake.origin
}

const asksAgain = (expected: Expected): boolean => expected.ends === "failed" && expected.health.testStatus !== "active"

/** A usage row is readable within this time. */
const rowsWithinMs = 5_000

export const open = async (gateway: TestGateway, provider: Provider, closedPort: number): Promise<Wall> => {
  const { manage } = gateway
  const ask: Ask = makeAsk(gateway.url)
  const sent = new Map<string, number>()
  let nodes = 0

  const connect = async (prefix: string, wire: WallWire, origin: string, more: object) => {
    const baseUrl = `${origin}/${prefix}/v1`
    const body = { name: prefix, prefix, type: types[wire], baseUrl, wires: [wire] }
    const { node } = await manage("POST", "/api/provider-nodes", body)
    const { connection } = await manage("POST", "/api/providers", { provider: prefix, name: prefix, ...more })
    return { id: String(connection.id), nodeId: String(node.id) }
  }

  const combine = async (name: string, ...models: ReadonlyArray<string>): Promise<string> => {
    const targets = models.map((model) => ({ model }))
    const { combo } = await manage("POST", "/api/combos", { name, strategy: "priority", targets })
    return combo.id
  }

  await manage("PATCH", "/api/resilience", {
    connectionCooldown: { apikey: { baseCooldownMs }, oauth: { baseCooldownMs } }
  })
  let row = 0
  let healthy: ReadonlyArray<{ readonly id: string; readonly nodeId: string }> = []
  const healthyNode = (wire: WallWire): string => `well${row}-${wire}`

  const startRow = async (limits: Partial<Timeouts>): Promise<void> => {
    await manage("PATCH", "/api/resilience", { timeouts: { ...timeouts, ...limits } })
    const old = healthy
    row += 1
    const more = { apiKey: "key-of-the-healthy", models: [healthyModel] }
    const wires = ["chat", "messages", "responses"] as const
    healthy = await Promise.all(wires.map((wire) => connect(healthyNode(wire), wire, provider.fake.origin, more)))
    for (const { id, nodeId } of old) {
      await manage("DELETE", `/api/providers/${id}`)
      await manage("DELETE", `/api/provider-nodes/${nodeId}`)
    }
  }

  const rowsOf = async (model: string): Promise<ReadonlyArray<Row>> => {
    const wanted = sent.get(model) ?? 0
    const read = async (): Promise<ReadonlyArray<Row>> => {
      const { logs } = await manage("GET", "/api/usage/logs?limit=200")
      return (logs as ReadonlyArray<Row>).filter((row) => row.requestedModel === model)
    }
    // A missing row is a verdict of its own.
    return lastWithin(read, (rows) => rows.length >= wanted, { withinMs: rowsWithinMs })
  }

  const run = async ({ client, expected, fault, streamed, targets, upstream }: Cell): Promise<Seen> => {
    nodes += 1
    const number = nodes
    const node = `n${number}`
    const cell = `cell-${number}`
    const origin = originOf(fault, provider, closedPort)
    const oauth = {
      accessToken: "stale-token",
      refreshToken: "first-refresh",
      tokenUrl: `${provider.fake.origin}/${node}/token`
    }
    const { id, nodeId } = await connect(node, upstream, origin, {
      models: [fault.name],
      ...(fault.oauth ? { authType: "oauth", oauth } : { apiKey: `key-of-${node}` })
    })
    const single = `${node}/${fault.name}`
    const model = targets === 1 ? single : `pair-${number}`
    const comboId = targets === 1 ? null : await combine(model, single, `${healthyNode(upstream)}/${healthyModel}`)

    const question = {
      wire: client,
      model,
      streamed,
      prompt: `${cell}: tell the story`,
      withTool: fault.asksForTool ?? false
    }
    const send = (): Promise<Ending> => {
      sent.set(model, (sent.get(model) ?? 0) + 1)
      return ask(question)
    }

    const sentMs = Date.now()
    const ending = await send()
    const endedMs = Date.now()
    const faultyCalls = provider.calls(node, cell)
    const healthyCalls = provider.calls(healthyNode(upstream), cell)
    const read = async () => (await manage("GET", `/api/providers/${id}`)).connection
    const testStatus = expected.ends === "answered" ? "active" : expected.health.testStatus
    const isTold = (one: { readonly testStatus: string }): boolean =>
      one.testStatus === testStatus || (testStatus === "active" && one.testStatus === "unknown")
    // What a worker has learned the others know after 50 ms; one process knows it at once.
    const connection = Program.workers === undefined ? await read() : await lastWithin(read, isTold)
    const coolsUntil = connection.rateLimitedUntil === null ? null : Date.parse(connection.rateLimitedUntil)
    const { breakers } = await manage("GET", "/api/resilience/breakers").catch(() => ({ breakers: null }))
    const again = asksAgain(expected) ? await send() : null
    const rows = await rowsOf(model)
    if (comboId !== null) await manage("DELETE", `/api/combos/${comboId}`)
    await manage("DELETE", `/api/providers/${id}`)
    await manage("DELETE", `/api/provider-nodes/${nodeId}`)
    return {
      ending,
      again,
      faultyCalls,
      healthyCalls,
      faultyCallsAgain: provider.calls(node, cell) - faultyCalls,
      renewals: provider.renewals(node),
      testStatus: connection.testStatus,
      backoffLevel: connection.backoffLevel,
      coolsMs: coolsUntil === null ? null : { sinceAnswer: coolsUntil - endedMs, sinceQuestion: coolsUntil - sentMs },
      breakerFailures:
        breakers === null
          ? -1
          : (breakers.find((breaker: { provider: string }) => breaker.provider === node)?.failures ?? 0),
      rows,
      node,
      healthyNode: healthyNode(upstream)
    }
  }
  return { gateway, startRow, run, sent }
}
