/** Reads blocks of turns: the contract says no more of them than that they have a type. */
export type Block =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Thinking"; readonly text: string; readonly isSigned: boolean }
  | { readonly _tag: "ToolUse"; readonly id: string; readonly name: string; readonly input: string }
  | { readonly _tag: "ToolResult"; readonly id: string; readonly content: string }
  | { readonly _tag: "Media"; readonly mediaType: string; readonly bytes: number }
  | { readonly _tag: "Other"; readonly json: string }

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value, null, 2)

export const blockOf = (value: unknown): Block => {
  const block = (typeof value === "object" && value !== null ? value : {}) as Readonly<Record<string, unknown>>
  switch (block["type"]) {
    case "text":
      return { _tag: "Text", text: textOf(block["text"]) }
    case "thinking":
      return { _tag: "Thinking", text: textOf(block["text"]), isSigned: block["signed"] === true }
    case "tool_use":
      return { _tag: "ToolUse", id: textOf(block["id"]), name: textOf(block["name"]), input: textOf(block["input"]) }
    case "tool_result":
      return { _tag: "ToolResult", id: textOf(block["tool_use_id"]), content: textOf(block["content"]) }
    case "media":
      return { _tag: "Media", mediaType: textOf(block["mediaType"]), bytes: Number(block["bytes"]) || 0 }
    default:
      return { _tag: "Other", json: textOf(value) }
  }
}
