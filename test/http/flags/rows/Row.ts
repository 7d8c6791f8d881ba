/** A line of the table of flags: what is seen of a running gateway in each position of the flag. */
import type * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import type { BooleanFlag, FlagKey } from "../../../../src/subjects/flags/FlagCatalog.ts"
import type { AppConfigShape } from "../../../../src/platform/AppConfig.ts"
import type { FakeUpstream } from "../../../support/FakeUpstream.ts"
import type { Scene } from "../Scene.ts"

/** A gateway with an upstream. */
export interface Stage extends Scene {
  readonly upstream: FakeUpstream
  /** What is acquired is released with the gateway. */
  readonly run: <A>(effect: Effect.Effect<A, never, Scope>) => Promise<A>
}

export interface Row {
  readonly flag: FlagKey
  /** Variables beside that of the flag. */
  readonly environment?: Readonly<Record<string, string>>
  readonly config?: Partial<AppConfigShape>
  /** What was seen stays with the gateway, so each position gets one that starts with it. */
  readonly isFresh?: true
  /** Done once in each gateway. */
  readonly prepare: (stage: Stage) => Promise<unknown>
  /** What is seen. `value`: the position, for what has to be waited for. */
  readonly look: (stage: Stage, value: string) => Promise<unknown>
  /** By position. */
  readonly seen: Readonly<Record<string, unknown>>
}

/** A flag that is off or on. */
export const toggle = ({
  off,
  on,
  ...row
}: Omit<Row, "flag" | "seen"> & { readonly flag: BooleanFlag; readonly off: unknown; readonly on: unknown }): Row => ({
  ...row,
  seen: { false: off, true: on }
})

export const nothing = async (): Promise<void> => {}

const turns = (content: string) => [{ role: "user", content }]

/** An answer, and what was sent for it; null: nothing. */
export const asked = async (
  { gateway, upstream }: Pick<Stage, "gateway" | "upstream">,
  model: string,
  content: string,
  more: object = {}
) => {
  const before = upstream.requests.length
  const response = await gateway.post("/v1/chat/completions", { model, messages: turns(content), ...more })
  const text = await response.text()
  const sent = upstream.requests[before]?.body
  return {
    status: response.status,
    headers: response.headers,
    text,
    sent: sent === undefined ? null : String(JSON.parse(sent).messages[0].content)
  }
}
