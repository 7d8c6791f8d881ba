/**
 * Canonical response → text completion. The endpoint returns text only, so reasoning is left out.
 *
 * https://developers.openai.com/api/reference/resources/completions/methods/create
 */
import * as Either from "effect/Either"
import type { Response, StopReason } from "../../canonical/Response.ts"
import { finishReasons } from "../../chat/Stop.ts"
import { encodeUsage } from "../../chat/Usage.ts"
import type { JsonObject } from "../../json/Json.ts"
import type { EncodeContext } from "../../WireCodec.ts"
import { promptOf } from "./Prompt.ts"

/** The prompt before the answer, when the client set `echo`. */
export const echoOf = ({ request = {} }: EncodeContext): string =>
  request["echo"] === true ? Either.getOrElse(promptOf(request), () => "") : ""

export const finishReasonOf = (reason: StopReason): string => {
  const finish = finishReasons[reason]
  return finish === "tool_calls" ? "stop" : finish
}

const textOf = (response: Response): string =>
  response.parts.reduce((all, part) => (part.type === "text" || part.type === "refusal" ? all + part.text : all), "")

export const encodeResponse = (response: Response, context: EncodeContext): JsonObject => ({
  id: response.id ?? context.fallbackId,
  object: "text_completion",
  created: Math.floor((response.createdMs ?? context.nowMs) / 1000),
  model: response.model ?? context.model,
  choices: [
    {
      text: echoOf(context) + textOf(response),
      index: 0,
      logprobs: null,
      finish_reason: finishReasonOf(response.stop.reason)
    }
  ],
  ...(response.usage === null ? {} : { usage: encodeUsage(response.usage) })
})
