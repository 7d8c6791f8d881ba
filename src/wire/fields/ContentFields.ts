/** Fields of requests: the content of a conversation. */
import {
  dropped,
  everywhere,
  exact,
  fetched,
  type FieldRow,
  mapped,
  noPlace,
  noPlaceAnywhere,
  nowhere,
  row
} from "./FieldTable.ts"

const asText = mapped("as text")
const inWords = mapped("behind the text, where it does not say them")
const allAsText = { chat: asText, messages: asText, responses: asText, gemini: asText, ollama: asText }
const gathered = mapped("gathered into the system prompt; between turns, marked in the user's words")
const marked = mapped("in its place, marked in the user's words; as it is where the model takes it")

export const contentFields = [
  row(
    "system",
    "System prompt",
    {
      chat: "messages (system)",
      messages: "system",
      responses: "instructions",
      gemini: "systemInstruction",
      ollama: "messages (system)"
    },
    everywhere
  ),
  row(
    "systemBetween",
    "System message between turns",
    {
      chat: "messages (system)",
      messages: "messages (system)",
      responses: "input (system)",
      ollama: "messages (system)"
    },
    { ...everywhere, messages: marked, gemini: mapped("in its place, marked in the user's words") }
  ),
  row(
    "developer",
    "Developer message",
    { chat: "messages (developer)", responses: "input (developer)" },
    { chat: exact, messages: gathered, responses: exact, gemini: gathered, ollama: mapped("as a system message") }
  ),
  row(
    "userText",
    "User text",
    {
      chat: "messages.content",
      messages: "messages.content",
      responses: "input.content",
      gemini: "contents.parts",
      ollama: "messages.content"
    },
    everywhere
  ),
  row(
    "userTexts",
    "Several texts in one message",
    { chat: "messages.content", messages: "messages.content", responses: "input.content", gemini: "contents.parts" },
    { ...everywhere, ollama: mapped("texts are joined") }
  ),
  row(
    "imageInline",
    "Picture, inline",
    {
      chat: "messages.content.image_url",
      messages: "messages.content.image",
      responses: "input.content.input_image",
      gemini: "contents.parts.inlineData",
      ollama: "messages.images"
    },
    everywhere
  ),
  row(
    "imageUrl",
    "Picture, by link",
    {
      chat: "messages.content.image_url",
      messages: "messages.content.image",
      responses: "input.content.input_image",
      gemini: "contents.parts.fileData"
    },
    { ...everywhere, ollama: fetched }
  ),
  row(
    "imageDetail",
    "Picture detail",
    { chat: "messages.content.image_url.detail", responses: "input.content.input_image.detail" },
    { ...nowhere, chat: exact, responses: exact }
  ),
  row(
    "imageId",
    "Picture, by the provider's id",
    { responses: "input.content.input_image", gemini: "contents.parts.fileData" },
    noPlaceAnywhere
  ),
  row(
    "filePdf",
    "Document (PDF)",
    {
      chat: "messages.content.file",
      messages: "messages.content.document",
      responses: "input.content.input_file",
      gemini: "contents.parts.inlineData"
    },
    { ...everywhere, ollama: noPlace }
  ),
  row(
    "fileText",
    "Document (plain text)",
    {
      chat: "messages.content.file",
      messages: "messages.content.document",
      responses: "input.content.input_file",
      gemini: "contents.parts.inlineData"
    },
    { ...everywhere, chat: asText, messages: mapped("as a text document"), ollama: asText },
    { "messages>responses": asText, "messages>gemini": asText }
  ),
  row(
    "fileName",
    "Name of a document",
    {
      chat: "messages.content.file.filename",
      messages: "messages.content.document.title",
      responses: "input.content.input_file.filename",
      gemini: "contents.parts.inlineData.displayName"
    },
    { ...everywhere, gemini: dropped, ollama: noPlace }
  ),
  row(
    "fileUrl",
    "Document, by link",
    {
      messages: "messages.content.document",
      responses: "input.content.input_file",
      gemini: "contents.parts.fileData"
    },
    { ...everywhere, chat: fetched, ollama: fetched }
  ),
  row(
    "fileId",
    "File, by the provider's id",
    {
      chat: "messages.content.file",
      messages: "messages.content.document",
      responses: "input.content.input_file",
      gemini: "contents.parts.fileData"
    },
    noPlaceAnywhere
  ),
  row(
    "audio",
    "Sound",
    {
      chat: "messages.content.input_audio",
      responses: "input.content.input_audio",
      gemini: "contents.parts.inlineData"
    },
    { ...everywhere, messages: noPlace, ollama: noPlace }
  ),
  row(
    "video",
    "Video, inline",
    { gemini: "contents.parts.inlineData" },
    { ...noPlaceAnywhere, chat: exact, responses: exact }
  ),
  row(
    "opaqueBlock",
    "Content block of one wire alone",
    {
      messages: "messages.content.search_result",
      gemini: "contents.parts.executableCode"
    },
    allAsText
  ),
  row("unknownBlock", "Content block that is not known", { responses: "input.content.input_new" }, noPlaceAnywhere),
  row(
    "mcpResult",
    "Result of a tool that the provider called",
    { messages: "messages.content.mcp_tool_result", responses: "input.mcp_call" },
    allAsText
  ),
  row("documentBlocks", "Document made of blocks", { messages: "messages.content.document" }, allAsText),
  row(
    "containerFile",
    "File for the provider's code",
    { messages: "messages.content.container_upload" },
    noPlaceAnywhere
  ),
  row("itemReference", "Reference to an earlier item", { responses: "input.item_reference" }, noPlaceAnywhere),
  row("ownItem", "Work of the provider's own tools, earlier", { responses: "input.web_search_call" }, allAsText),
  row(
    "cacheControl",
    "Prompt-cache mark",
    { chat: "cache_control", messages: "cache_control" },
    { ...nowhere, messages: exact }
  ),
  row("messageName", "Name of a speaker", { chat: "messages.name" }, nowhere),
  row(
    "reasoningHistory",
    "Earlier reasoning without proof",
    {
      chat: "messages.reasoning_content",
      responses: "input.reasoning",
      gemini: "contents.parts.thought",
      ollama: "messages.thinking"
    },
    {
      chat: { fate: "dropped", note: "As it is to providers and models whose documentation has a place for it." },
      messages: dropped,
      responses: dropped,
      gemini: dropped,
      ollama: exact
    }
  ),
  row(
    "reasoningSigned",
    "Earlier reasoning with its provider's proof",
    { messages: "messages.content.thinking", responses: "input.reasoning", gemini: "contents.parts.thought" },
    nowhere
  ),
  row(
    "refusalHistory",
    "Earlier refusal",
    { chat: "messages.refusal", responses: "input.content.refusal" },
    { chat: exact, messages: asText, responses: exact, gemini: asText, ollama: asText }
  ),
  row(
    "citations",
    "Links of an earlier answer",
    {
      chat: "messages.annotations",
      messages: "messages.content.citations",
      responses: "input.content.annotations"
    },
    { chat: inWords, messages: inWords, responses: exact, gemini: inWords, ollama: inWords }
  )
] as const satisfies ReadonlyArray<FieldRow>
