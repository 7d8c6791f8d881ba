/**
 * Canonical response → gemini answer.
 *
 * https://ai.google.dev/api/generate-content
 */
import { linksIn } from "../canonical/Links.ts"
import type { AnswerPart, Response } from "../canonical/Response.ts"
import { argsAsObject } from "../canonical/tools/ToolArgs.ts"
import { type JsonObject, optional } from "../json/Json.ts"
import type { EncodeContext } from "../WireCodec.ts"
import { makeGrounding } from "./Grounding.ts"
import { encodeLogprobs } from "./Logprobs.ts"
import { partOfPicture, signatureOf } from "./Part.ts"
import { encodeStop } from "./Stop.ts"
import { encodeUsage } from "./Usage.ts"

const encodePart = (part: AnswerPart): JsonObject | null => {
  switch (part.type) {
    case "text":
      if (part.text === "" && part.state === undefined) return null
      return { text: part.text, ...signatureOf(part.state) }
    case "refusal":
      return part.text === "" ? null : { text: part.text }
    case "reasoning": {
      const signature = signatureOf(part.state)
      // Another wire's signature without a text has no meaning here.
      if (part.text === "" && Object.keys(signature).length === 0) return null
      return { text: part.text, thought: true, ...signature }
    }
    case "tool_call": {
      const args = part.kind === "custom" ? { input: part.args } : argsAsObject(part.args)
      return { functionCall: { id: part.id, name: part.name, args }, ...signatureOf(part.state) }
    }
    case "opaque":
      if (part.search !== undefined) return null
      return part.wire === "gemini" ? part.value : partOfPicture(part.picture)
  }
}

/** A content must have parts: an empty answer is an empty text. */
const emptyText: ReadonlyArray<JsonObject> = [{ text: "" }]

export const encodeResponse = (response: Response, context: EncodeContext): JsonObject => {
  const parts: Array<JsonObject> = []
  const grounding = makeGrounding()
  for (const part of response.parts) {
    if (part.type === "opaque") grounding.search(part)
    const encoded = encodePart(part)
    if (encoded === null) continue
    if (part.type === "text") grounding.links(linksIn(part.citations), part.text, 0, parts.length)
    parts.push(encoded)
  }
  return {
    candidates: [
      {
        content: { parts: parts.length === 0 ? emptyText : parts, role: "model" },
        finishReason: encodeStop(response.stop),
        ...encodeLogprobs(response.logprobs?.["content"]),
        ...optional("groundingMetadata", grounding.metadata()),
        index: 0
      }
    ],
    ...optional("usageMetadata", response.usage === null ? null : encodeUsage(response.usage)),
    modelVersion: response.model ?? context.model,
    responseId: response.id ?? context.fallbackId
  }
}
