/** A gateway and an upstream for the tests of the playground. */
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AppConfigShape } from "../../../src/platform/AppConfig.ts"
import * as FakeUpstream from "../../support/FakeUpstream.ts"
import * as TestGateway from "../../support/TestGateway.ts"

export const admin = { authorization: `Bearer ${TestGateway.adminKey}` }

export interface Setting {
  readonly gateway: TestGateway.TestGateway
  readonly upstream: FakeUpstream.FakeUpstream
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>
    // eslint-disable-next-line typescript/no-explicit-any -- tests read into answers as they please
  ) => Promise<{ readonly status: number; readonly body: any; readonly headers: Headers }>
}

/** `up/<model>` is served by the upstream. */
export const scenario = (
  name: string,
  run: (setting: Setting) => Promise<void>,
  config: Partial<AppConfigShape> = {},
  timeoutMs?: number
): void => {
  it.scopedLive(
    name,
    () =>
      Effect.gen(function* () {
        const upstream = yield* FakeUpstream.start
        upstream.always(FakeUpstream.json(FakeUpstream.chatCompletion({ text: "Forty-two." })))
        const gateway = yield* TestGateway.start(config)
        yield* Effect.promise(async () => {
          await gateway.connect("up", upstream, "chat", { models: ["m", "a", "b", "c", "d"] })
          await run({
            gateway,
            upstream,
            send: async (method, path, body, headers = {}) => {
              const response = await fetch(gateway.url + path, {
                method,
                headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
                ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
              })
              const text = await response.text()
              return {
                status: response.status,
                body:
                  text === "" ? null : response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text,
                headers: response.headers
              }
            }
          })
        })
      }),
    timeoutMs
  )
}

export interface Told {
  readonly event: string
  // eslint-disable-next-line typescript/no-explicit-any -- as above
  readonly data: any
}

/** The events of a stream; comments are none. */
export const eventsIn = (text: string): ReadonlyArray<Told> =>
  text.split("\n\n").flatMap((block) => {
    const event = /^event: (.*)$/m.exec(block)?.[1]
    const data = /^data: (.*)$/m.exec(block)?.[1]
    return event === undefined || data === undefined ? [] : { event, data: JSON.parse(data) }
  })
