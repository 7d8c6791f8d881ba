/**
 * Texts of the parts that only the generative-language wire has: code that its servers ran.
 *
 * https://ai.google.dev/gemini-api/docs/code-execution
 */
import type { OpaquePart } from "../../canonical/Conversation.ts"
import { plainText, type Saying, textOfLines, unknownBlock } from "../../canonical/ForeignContent.ts"
import { objectOr, stringOr } from "../../json/Json.ts"
import { camel } from "../Casing.ts"

export const partTexts = ({ kind, value }: OpaquePart): Saying => {
  const said = camel(objectOr(value[kind]))
  switch (kind) {
    case "executableCode":
    case "executable_code": {
      const language = (stringOr(said["language"]) ?? "").toLowerCase()
      return [plainText(`\`\`\`${language}\n${stringOr(said["code"]) ?? ""}\n\`\`\``)]
    }
    case "codeExecutionResult":
    case "code_execution_result":
      return textOfLines(said["outcome"] === "OUTCOME_OK" ? undefined : said["outcome"], said["output"])
    default:
      return unknownBlock(value)
  }
}
