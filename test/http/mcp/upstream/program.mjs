/** An MCP server of the official SDK over standard input and output. Its first argument names a file for its process id. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { writeFileSync } from "node:fs"

const [pidFile, mode = "", secret = ""] = process.argv.slice(2)
if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid))

if (mode === "dies") {
  process.stderr.write(`cannot start with ${process.env["SERVICE_TOKEN"] ?? ""}\n`)
  process.exit(3)
}
if (mode === "stays") process.on("SIGTERM", () => {})

const text = (said) => ({ content: [{ type: "text", text: said }] })

const object = { type: "object" }
const tools = [
  { name: "add", description: "Adds.", inputSchema: object },
  { name: "facts", description: "What it was started with.", inputSchema: object },
  { name: "repeat", description: `Knows ${process.env["SERVICE_TOKEN"]}.`, inputSchema: object },
  { name: "exit", description: "Ends the program.", inputSchema: object }
]

const server = new Server({ name: "program", version: "0.1.0" }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
server.setRequestHandler(CallToolRequestSchema, ({ params: { arguments: given, name } }) => {
  if (name === "exit") process.exit(7)
  if (name === "repeat") {
    const token = process.env["SERVICE_TOKEN"] ?? ""
    return text(`${token} ${secret} ${Buffer.from(`x${token}`).toString("base64")} in ${process.env["HOME"]}`)
  }
  if (name === "add") return text(String(given.a + given.b))
  return text(
    JSON.stringify({
      hasToken: process.env["SERVICE_TOKEN"] === "token-of-the-service-1",
      hasSecret: secret === "argument-secret-123456",
      names: Object.keys(process.env).toSorted()
    })
  )
})
await server.connect(new StdioServerTransport())
if (mode === "stays") setInterval(() => {}, 1_000)
