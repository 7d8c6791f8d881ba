/** An MCP server of the official SDK over standard input and output. Its first argument names a file for its process id. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { writeFileSync } from "node:fs"
import { z } from "zod"

const [pidFile, mode = "", secret = ""] = process.argv.slice(2)
if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid))

if (mode === "dies") {
  process.stderr.write(`cannot start with ${process.env["SERVICE_TOKEN"] ?? ""}\n`)
  process.exit(3)
}
if (mode === "stays") process.on("SIGTERM", () => {})

const text = (said) => ({ content: [{ type: "text", text: said }] })

const server = new McpServer({ name: "program", version: "0.1.0" })
server.registerTool("add", { description: "Adds.", inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) =>
  text(String(a + b))
)
server.registerTool("facts", { description: "What it was started with." }, () =>
  text(
    JSON.stringify({
      hasToken: process.env["SERVICE_TOKEN"] === "token-of-the-service-1",
      hasSecret: secret === "argument-secret-123456",
      names: Object.keys(process.env).toSorted()
    })
  )
)
server.registerTool("exit", { description: "Ends the program." }, () => process.exit(7))
await server.connect(new StdioServerTransport())
if (mode === "stays") setInterval(() => {}, 1_000)
