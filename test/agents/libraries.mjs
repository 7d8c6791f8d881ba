// What clients' libraries do with the gateway, run in the folder where they are installed: node libraries.mjs <task> <url> <key> <model>. Prints JSON.
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [task, url, apiKey, model] = process.argv.slice(2)
const require = createRequire(join(process.cwd(), "package.json"))
const load = (name) => import(pathToFileURL(require.resolve(name)).href)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** The AI SDK's default client of the responses wire: earlier turns of the assistant go as references to items. */
const turns = async () => {
  const { generateText } = await load("ai")
  const { createOpenAI } = await load("@ai-sdk/openai")
  const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey })
  const messages = [{ role: "user", content: "Hi" }]
  const first = await generateText({ model: openai(model), messages })
  messages.push(...first.response.messages, { role: "user", content: "And?" })
  const second = await generateText({ model: openai(model), messages })
  return { first: first.text, second: second.text }
}

/** Cache marks as opencode sets them: on the system prompt, on turns, and on a tool's result. */
const marks = async () => {
  const { generateText, jsonSchema, tool } = await load("ai")
  const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible")
  const provider = createOpenAICompatible({ name: "gateway", baseURL: `${url}/v1`, apiKey })
  const marked = { providerOptions: { openaiCompatible: { cache_control: { type: "ephemeral" } } } }
  const call = { type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "a" } }
  const result = {
    type: "tool-result",
    toolCallId: "c1",
    toolName: "look",
    output: { type: "text", value: "Found" },
    ...marked
  }
  const { text } = await generateText({
    model: provider(model),
    allowSystemInMessages: true,
    messages: [
      { role: "system", content: "Rules", ...marked },
      { role: "user", content: [{ type: "text", text: "One", ...marked }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Looking" },
          { ...call, ...marked }
        ]
      },
      { role: "tool", content: [result], ...marked }
    ],
    tools: { look: tool({ inputSchema: jsonSchema({ type: "object", properties: { at: { type: "string" } } }) }) }
  })
  return { text }
}

/** LangChain's vectors, and the picture that its chat model sends. */
const langchain = async () => {
  const { ChatOpenAI, OpenAIEmbeddings } = await load("@langchain/openai")
  const configuration = { baseURL: `${url}/v1` }
  const embeddings = new OpenAIEmbeddings({ apiKey, model, configuration })
  const vectors = await embeddings.embedDocuments(["one", "three", "seventeen"])
  const chat = new ChatOpenAI({ apiKey, model, configuration })
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url: `data:image/jpeg;base64,${png}` } }
  ]
  const { content: said } = await chat.invoke([{ role: "user", content }])
  return { vectors, said }
}

const tasks = { turns, marks, langchain }
process.stdout.write(JSON.stringify(await tasks[task]()))
