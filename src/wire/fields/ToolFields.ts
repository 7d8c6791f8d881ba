/** Fields of requests: tools, their calls and their results. */
import { type Cell, dropped, everywhere, exact, type FieldRow, mapped, nowhere, rejected, row } from "./FieldTable.ts"

const wrapped = mapped("kept whole, as one argument")
const flat = mapped("one by one, under flat names; calls come back in their namespace")
const oneText = mapped("a tool with one text argument; its calls come back in free form")
const fewer = mapped("the others are not offered")
const noRunner = rejected("the model would make the results up")

const strictly: Cell = {
  fate: "exact",
  note: "Dropped where a property is optional, which OpenAI's strict does not take."
}

const searched: Cell = {
  fate: "dropped",
  note: "Offered as the target's own search where it has one, or run by the gateway where a provider of searches is connected."
}

export const toolFields = [
  row(
    "toolCall",
    "Tool call",
    {
      chat: "messages.tool_calls",
      messages: "messages.content.tool_use",
      responses: "input.function_call",
      gemini: "contents.parts.functionCall",
      ollama: "messages.tool_calls"
    },
    everywhere
  ),
  row(
    "toolCallOddId",
    "Tool-call id with signs outside a–z, 0–9, _ and -",
    {
      chat: "messages.tool_calls.id",
      responses: "input.call_id",
      gemini: "contents.parts.functionCall.id",
      ollama: "messages.tool_calls.id"
    },
    { ...everywhere, messages: mapped("renamed, in the call and in its result") }
  ),
  row(
    "toolArgsBroken",
    "Tool-call arguments that are no JSON object",
    { chat: "messages.tool_calls.function.arguments", responses: "input.arguments" },
    { chat: exact, messages: wrapped, responses: exact, gemini: wrapped, ollama: wrapped }
  ),
  row(
    "toolCallCustom",
    "Free-form tool call",
    { chat: "messages.tool_calls.custom", responses: "input.custom_tool_call" },
    { chat: exact, messages: wrapped, responses: exact, gemini: wrapped, ollama: wrapped },
    { "responses>chat": mapped("as a call of a function, unless the endpoint knows free-form tools") }
  ),
  row(
    "toolResult",
    "Tool result",
    {
      chat: "messages (tool)",
      messages: "messages.content.tool_result",
      responses: "input.function_call_output",
      gemini: "contents.parts.functionResponse",
      ollama: "messages (tool)"
    },
    everywhere
  ),
  row(
    "toolResultImage",
    "Picture in a tool result",
    {
      messages: "messages.content.tool_result.image",
      responses: "input.output.input_image",
      gemini: "contents.parts.functionResponse.parts"
    },
    {
      ...everywhere,
      chat: mapped("in a user message after the results"),
      gemini: mapped("beside the results")
    }
  ),
  row(
    "toolResultError",
    "Failed tool result",
    {
      messages: "messages.content.tool_result.is_error",
      gemini: "contents.parts.functionResponse.response.error"
    },
    { ...nowhere, messages: exact, gemini: exact }
  ),
  row(
    "tool",
    "Tool definition",
    { chat: "tools", messages: "tools", responses: "tools", gemini: "tools.functionDeclarations", ollama: "tools" },
    everywhere
  ),
  row(
    "toolStrict",
    "Strict tool schema",
    { chat: "tools.function.strict", messages: "tools.strict", responses: "tools.strict" },
    { ...nowhere, chat: strictly, responses: strictly }
  ),
  row(
    "toolCustom",
    "Free-form tool",
    { chat: "tools.custom", responses: "tools.custom" },
    {
      chat: mapped("a function with one text argument, unless the endpoint knows free-form tools"),
      messages: oneText,
      responses: exact,
      gemini: oneText,
      ollama: oneText
    }
  ),
  row(
    "toolNamespace",
    "Tools in a namespace",
    { responses: "tools.namespace" },
    { chat: flat, messages: flat, gemini: flat, ollama: flat }
  ),
  row(
    "toolBuiltin",
    "Tool the provider runs",
    {
      messages: "tools.code_execution_20250825",
      responses: "tools.code_interpreter",
      gemini: "tools.codeExecution"
    },
    nowhere
  ),
  row(
    "toolWebSearch",
    "Search of the web that the provider runs",
    {
      chat: "web_search_options",
      messages: "tools.web_search_20250305",
      responses: "tools.web_search",
      gemini: "tools.googleSearch"
    },
    { chat: searched, messages: searched, responses: searched, gemini: searched, ollama: searched }
  ),
  row(
    "toolChoiceNone",
    "Tool choice: none",
    { chat: "tool_choice", messages: "tool_choice", responses: "tool_choice", gemini: "toolConfig" },
    { ...everywhere, ollama: dropped }
  ),
  row(
    "toolChoiceRequired",
    "Tool choice: any",
    { chat: "tool_choice", messages: "tool_choice", responses: "tool_choice", gemini: "toolConfig" },
    { ...everywhere, ollama: dropped }
  ),
  row(
    "toolChoiceNamed",
    "Tool choice: this one",
    { chat: "tool_choice", messages: "tool_choice", responses: "tool_choice", gemini: "toolConfig" },
    { ...everywhere, ollama: dropped }
  ),
  row(
    "toolChoiceAllowed",
    "Tool choice: among these",
    { chat: "tool_choice", responses: "tool_choice", gemini: "toolConfig" },
    { chat: fewer, messages: fewer, responses: exact, gemini: fewer, ollama: fewer },
    // The wire cannot force a choice.
    { "gemini>ollama": dropped }
  ),
  row(
    "toolChoiceBuiltin",
    "Tool choice: a tool the provider runs",
    { messages: "tool_choice", responses: "tool_choice" },
    { chat: noRunner, messages: noRunner, responses: noRunner, gemini: noRunner, ollama: noRunner }
  ),
  row(
    "parallelOff",
    "One tool call at a time",
    {
      chat: "parallel_tool_calls",
      messages: "tool_choice.disable_parallel_tool_use",
      responses: "parallel_tool_calls"
    },
    { ...everywhere, gemini: dropped, ollama: dropped }
  )
] as const satisfies ReadonlyArray<FieldRow>
