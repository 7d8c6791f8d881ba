/**
 * Members of nested objects that the decoders of this wire read, in camelCase.
 *
 * https://ai.google.dev/api/generate-content
 */
import { type Members, read, type ReadMembers } from "../json/Members.ts"
import { makeSpelling } from "../json/Spelling.ts"

const media = {
  inlineData: { of: read("mimeType", "data", "displayName") },
  fileData: { of: read("mimeType", "fileUri", "displayName") }
} as const

const parts: Members = {
  each: {
    of: {
      ...read("text", "thought", "thoughtSignature", "executableCode", "codeExecutionResult"),
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

const generationConfig = {
  ...read(
    "temperature topP topK seed presencePenalty frequencyPenalty stopSequences",
    "maxOutputTokens candidateCount responseLogprobs logprobs responseMimeType responseSchema",
    "responseJsonSchema _responseJsonSchema responseModalities speechConfig imageConfig mediaResolution"
  ),
  thinkingConfig: { of: read("thinkingBudget", "includeThoughts", "thinkingLevel") }
} satisfies ReadMembers

const functionDeclaration = read(
  "name description parameters parametersJsonSchema response responseJsonSchema behavior"
)

const requestMembers: ReadMembers = {
  ...read("model", "stream", "cachedContent", "labels", "serviceTier", "store"),
  ...read("taskType", "title", "outputDimensionality"),
  content: { of: { role: true, parts } },
  safetySettings: { each: { of: read("category", "threshold") } },
  generationConfig: { of: generationConfig },
  toolConfig: { of: { functionCallingConfig: { of: read("mode", "allowedFunctionNames") } } },
  tools: {
    each: {
      of: {
        ...read("googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext"),
        functionDeclarations: { each: { of: functionDeclaration } }
      }
    }
  },
  ...nestedMembers
}

/** Finds members that programs could read in two ways: in another case of letters, or in both spellings. */
export const misspelt = makeSpelling(
  {
    ...requestMembers,
    // Counting tokens takes a whole request; vectors are asked for in lists.
    generateContentRequest: { of: requestMembers },
    requests: { each: { of: requestMembers } }
  },
  { takesSnakeCase: true }
)
