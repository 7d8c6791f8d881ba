/** End of a member: its answer, its part of the bill, its failure. */
import * as Either from "effect/Either"
import { replay } from "../../../wire/canonical/Replay.ts"
import type { Response } from "../../../wire/canonical/Response.ts"
import { isObject, parseJson } from "../../../wire/json/Json.ts"
import type { EncodeContext } from "../../../wire/WireCodec.ts"
import type { AttemptResult } from "../../attempt/AttemptResult.ts"
import type { FailoverEnd } from "../../failover/FailoverEnd.ts"
import type { Work } from "../../request/Exchange.ts"
import type { Served } from "../../settle/Bill.ts"
import { innerCodec } from "./InnerWork.ts"
import type { Trail } from "../../request/Trail.ts"
import type { Member } from "./Members.ts"

type Completed = Extract<AttemptResult, { _tag: "Completed" }>

export interface PanelAnswer {
  readonly result: Completed
  readonly response: Response
  /** Text of the answer; never empty. */
  readonly text: string
}

export interface MemberEnd {
  readonly member: Member
  readonly end: FailoverEnd
  readonly trail: Trail
  /** Null also when it answered without a word. */
  readonly answer: PanelAnswer | null
  /** Call that served the member; null when it was not asked or had no result. */
  readonly served: Served | null
}

const textOf = ({ parts }: Response): string =>
  parts
    .map((part) => (part.type === "text" || part.type === "refusal" ? part.text : ""))
    .join("")
    .trim()

const answerOf = (work: Work, result: AttemptResult): PanelAnswer | null => {
  if (result._tag !== "Completed") return null
  const parsed = parseJson(result.body.toString())
  const response = isObject(parsed)
    ? Either.getOrNull(Either.mapLeft(innerCodec(work).decodeResponse(parsed), () => null))
    : null
  const text = response === null ? "" : textOf(response)
  return response === null || text === "" ? null : { result, response, text }
}

export const memberEnd = (work: Work, member: Member, end: FailoverEnd): MemberEnd => {
  const { trail } = work
  if (end._tag !== "Answered") return { member, end, trail, answer: null, served: null }
  const { result, target } = end
  const { firstContentMs, report } = result
  return { member, end, trail, answer: answerOf(work, result), served: { target, report, firstContentMs } }
}

/** The only answer there is, as the client asked for it: whole or as a stream, in its own endpoint's words. */
export const directAnswer = (work: Work, { response, result }: PanelAnswer, context: EncodeContext): Completed => {
  const { codec } = work.exchange
  if (work.envelope.stream) {
    const encoder = codec.makeStreamEncoder(context)
    const body = replay(response)
      .map((event) => encoder.encode(event))
      .join("")
    return { ...result, form: "replayed", body }
  }
  return codec === innerCodec(work)
    ? result
    : { ...result, body: JSON.stringify(codec.encodeResponse(response, context)) }
}
