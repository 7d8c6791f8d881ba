/** The fake provider: the model's name picks the fault, the path names the node, the prompt names the cell. */
import * as Fake from "../../support/FakeUpstream.ts"
import type { Fault } from "./Fault.ts"
import { all, streamed, type WallWire, whole } from "./Wires.ts"

export interface Provider {
  readonly fake: Fake.FakeUpstream
  /** How often a node was asked on behalf of a cell. */
  readonly calls: (node: string, cell: string) => number
  /** How often a node's access token was renewed. */
  readonly renewals: (node: string) => number
}

/** The model of the healthy nodes. */
export const healthyModel = "story"

const wireOf = (path: string): WallWire =>
  path.endsWith("/messages") ? "messages" : path.endsWith("/responses") ? "responses" : "chat"

/** `cell-7` in a prompt. */
export const cellPattern = /cell-\d+/

export const serve = (fake: Fake.FakeUpstream, faults: ReadonlyArray<Fault>): Provider => {
  const faultOf = new Map(faults.map((fault) => [fault.name, fault]))
  const counts = new Map<string, number>()
  const count = (key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

  fake.always((response, received) => {
    const [, node = "", ...rest] = (received.url.split("?")[0] ?? "").split("/")
    if (rest.at(-1) === "token") {
      count(`${node} token`)
      const tokens = {
        access_token: "fresh-token",
        refresh_token: "next-refresh",
        token_type: "Bearer",
        expires_in: 3_600
      }
      return Fake.json(tokens)(response, received)
    }
    const body = JSON.parse(received.body) as {
      readonly model: string
      readonly stream?: boolean
      readonly tools?: ReadonlyArray<unknown>
    }
    count(`${node} ${cellPattern.exec(received.body)?.[0] ?? ""}`)
    const ask = {
      wire: wireOf(rest.join("/")),
      streamed: body.stream === true,
      nowMs: Date.now(),
      credential: String(received.headers["authorization"] ?? received.headers["x-api-key"] ?? "")
    }
    const fault = faultOf.get(body.model)
    if (fault !== undefined) return fault.does(ask)(response, received)
    const telling = { tool: (body.tools ?? []).length > 0 }
    const answer = ask.streamed ? Fake.sse(all(streamed(ask.wire, telling))) : Fake.json(whole(ask.wire, telling))
    return answer(response, received)
  })
  return {
    fake,
    calls: (node, cell) => counts.get(`${node} ${cell}`) ?? 0,
    renewals: (node) => counts.get(`${node} token`) ?? 0
  }
}
