/**
 * Joins calls whose arguments came in pieces, each in its own part, into one part.
 *
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import { isArray, isObject, type Json, type JsonObject, objectOr, parseJson, stringOr } from "../../json/Json.ts"
import { callOf } from "../Part.ts"
import { makePartialArgs, type PartialArgs } from "./PartialArgs.ts"

interface Begun {
  readonly part: JsonObject
  readonly call: JsonObject
  readonly args: PartialArgs
  signature: string | null
}

const whole = ({ args, call, part, signature }: Begun): JsonObject => {
  const { partialArgs: _pieces, willContinue: _more, ...rest } = call
  return {
    ...part,
    functionCall: { ...rest, args: objectOr(parseJson(args.text())) },
    ...(signature === null ? {} : { thoughtSignature: signature })
  }
}

/** `parts` have their members in camelCase. Null when the pieces cannot be joined. */
export const joinCalls = <A extends Json>(parts: ReadonlyArray<A>): ReadonlyArray<A | JsonObject> | null => {
  const pieceOf = (part: Json): JsonObject | null => {
    const call = isObject(part) ? callOf(part) : null
    return call !== null && (call["willContinue"] === true || isArray(call["partialArgs"]) || !call["name"])
      ? call
      : null
  }
  if (!parts.some((part) => pieceOf(part) !== null)) return parts
  const joined: Array<A | JsonObject> = []
  let begun: Begun | null = null
  let ends = false
  const finish = (): void => {
    if (begun !== null) joined.push(whole(begun))
    begun = null
  }
  for (const part of parts) {
    const call = pieceOf(part)
    if (call === null || !isObject(part)) {
      finish()
      joined.push(part)
      continue
    }
    if (call["name"]) {
      finish()
      begun = { part, call, args: makePartialArgs(), signature: null }
      ends = true
    }
    const open: Begun | null = begun
    if (open === null) {
      // After a call it only marks the end; otherwise it is not a call.
      if (!ends || Object.keys(call).some((key) => key !== "willContinue")) joined.push(part)
      continue
    }
    open.signature = stringOr(part["thoughtSignature"]) ?? open.signature
    if (!open.args.add(call["args"], call["partialArgs"])) return null
    if (call["willContinue"] !== true) finish()
  }
  finish()
  return joined
}
