/** Bad input in the words of each client wire. */

export type ClientWire = "chat" | "messages" | "responses" | "gemini" | "ollama"

/** JSON text of a request of the wire; `up/m` is the model. */
export interface Kit {
  readonly path: string
  /** A request with these messages (contents, items) and these members more. */
  readonly body: (said: ReadonlyArray<unknown>, more?: Readonly<Record<string, unknown>>) => unknown
  readonly user: (text: string) => unknown
  readonly assistant: (text: string) => unknown
  readonly strangeRole: unknown
  readonly orphanResult: unknown
  /** The wire pairs results with calls by their order: one without a call cannot be read. */
  readonly pairsByOrder?: true
  /** A user message with a text and a part of an unknown type; null where content is text only. */
  readonly strangePart: unknown
  /** How `X-Gateway-Dropped` names it. */
  readonly strangeName: string
  readonly untypedPart: unknown
  readonly brokenImage: unknown
  /** Members with a tool whose schema is a text. */
  readonly brokenTool: Readonly<Record<string, unknown>>
  /** Members with a number too large to be one. `1e999` is put in for it. */
  readonly hugeNumber: Readonly<Record<string, unknown>>
  /** The shape of an error body. */
  readonly errorShape: RegExp
}

/** Stands for a number that JSON can express and a double cannot. */
export const huge = "\u0001huge\u0001"

const message = (role: string) => (content: unknown) => ({ role, content })
const brokenUrl = "data:image/png;base64,%%%"

export const kits: Readonly<Record<ClientWire, Kit>> = {
  chat: {
    path: "/v1/chat/completions",
    body: (messages, more) => ({ model: "up/m", messages, ...more }),
    user: message("user"),
    assistant: message("assistant"),
    strangeRole: { role: "narrator", content: "a" },
    orphanResult: { role: "tool", tool_call_id: "nobody", content: "r" },
    strangePart: message("user")([{ type: "text", text: "a" }, { type: "mystery" }]),
    strangeName: "messages.content.mystery",
    untypedPart: message("user")([{ text: "a" }]),
    brokenImage: message("user")([{ type: "image_url", image_url: { url: brokenUrl } }]),
    brokenTool: { tools: [{ type: "function", function: { name: "f", parameters: "none" } }] },
    hugeNumber: { temperature: huge },
    errorShape: /^\{"error":\{"message":".+","type":"invalid_request_error"/
  },
  messages: {
    path: "/v1/messages",
    body: (messages, more) => ({ model: "up/m", max_tokens: 50, messages, ...more }),
    user: message("user"),
    assistant: message("assistant"),
    strangeRole: { role: "narrator", content: "a" },
    orphanResult: message("user")([{ type: "tool_result", tool_use_id: "nobody", content: "r" }]),
    strangePart: message("user")([{ type: "text", text: "a" }, { type: "mystery" }]),
    strangeName: "messages.content.mystery",
    untypedPart: message("user")([{ text: "a" }]),
    brokenImage: message("user")([{ type: "image", source: { type: "base64", media_type: "image/png", data: "%%%" } }]),
    brokenTool: { tools: [{ name: "f", input_schema: "none" }] },
    hugeNumber: { max_tokens: huge },
    errorShape: /^\{"type":"error","error":\{"type":"invalid_request_error","message":".+\},"request_id":".+"\}$/
  },
  responses: {
    path: "/v1/responses",
    body: (input, more) => ({ model: "up/m", input, ...more }),
    user: message("user"),
    assistant: message("assistant"),
    strangeRole: { role: "narrator", content: "a" },
    orphanResult: { type: "function_call_output", call_id: "nobody", output: "r" },
    strangePart: message("user")([{ type: "input_text", text: "a" }, { type: "mystery" }]),
    strangeName: "input.content.mystery",
    untypedPart: message("user")([{ text: "a" }]),
    brokenImage: message("user")([{ type: "input_image", image_url: brokenUrl }]),
    brokenTool: { tools: [{ type: "function", name: "f", parameters: "none" }] },
    hugeNumber: { max_output_tokens: huge },
    errorShape: /^\{"error":\{"message":".+","type":"invalid_request_error"/
  },
  gemini: {
    path: "/v1beta/models/up/m:generateContent",
    body: (contents, more) => ({ contents, ...more }),
    user: (text) => ({ role: "user", parts: [{ text }] }),
    assistant: (text) => ({ role: "model", parts: [{ text }] }),
    strangeRole: { role: "narrator", parts: [{ text: "a" }] },
    orphanResult: { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "r" } } }] },
    strangePart: { role: "user", parts: [{ text: "a" }, { mystery: {} }] },
    strangeName: "contents.parts.mystery",
    untypedPart: { role: "user", parts: [{}] },
    brokenImage: { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: "%%%" } }] },
    brokenTool: { tools: [{ functionDeclarations: [{ name: "f", parameters: "none" }] }] },
    hugeNumber: { generationConfig: { temperature: huge } },
    errorShape: /^\{"error":\{"code":400,"message":".+","status":"INVALID_ARGUMENT"/
  },
  ollama: {
    path: "/api/chat",
    body: (messages, more) => ({ model: "up/m", stream: false, messages, ...more }),
    user: message("user"),
    assistant: message("assistant"),
    strangeRole: { role: "narrator", content: "a" },
    orphanResult: { role: "tool", tool_name: "f", content: "r" },
    pairsByOrder: true,
    strangePart: null,
    strangeName: "",
    untypedPart: { role: "user", content: [{ text: "a" }] },
    brokenImage: { role: "user", content: "a", images: ["%%%"] },
    brokenTool: { tools: [{ type: "function", function: { name: "f", parameters: "none" } }] },
    hugeNumber: { options: { temperature: huge } },
    errorShape: /^\{"error":".+","code":/
  }
}
