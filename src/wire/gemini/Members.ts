/**
 * What the decoders of this wire read of nested objects, in camelCase.
 *
 * https://ai.google.dev/api/generate-content
 */
import { type Members, read, type ReadMembers } from "../json/Members.ts"

const media = {
  inlineData: { of: read("mimeType", "data", "displayName") },
  fileData: { of: read("mimeType", "fileUri", "displayName") }
} as const

const parts: Members = {
  each: {
    of: {
      ...read("text", "thought", "thoughtSignature"),
      ...media,
      functionCall: { of: read("id", "name", "args", "partialArgs", "willContinue") },
      functionResponse: { of: { ...read("id", "name", "response"), parts: { each: { of: media } } } }
    }
  }
}

export const nestedMembers: ReadMembers = {
  contents: { each: { of: { role: true, parts } } },
  systemInstruction: { of: { role: true, parts } }
}
