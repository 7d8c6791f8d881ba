/** `gateway --mcp`: the official client over stdio, with the built program. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestGateway from "../support/TestGateway.ts"
import { program } from "./support.ts"

const { main } = program()

describe("gateway --mcp", () => {
  it.scopedLive("serves a client that starts it, and says so when no gateway runs", () =>
    Effect.gen(function* () {
      const { url } = yield* TestGateway.start()
      yield* Effect.promise(async () => {
        const connect = async (address: string) => {
          const client = new Client({ name: "test", version: "1.0.0" })
          const transport = new StdioClientTransport({
            command: process.execPath,
            args: [main, "--mcp", "--url", address, "--gateway-key", TestGateway.adminKey],
            stderr: "ignore"
          })
          await client.connect(transport)
          return client
        }
        const client = await connect(url)
        const { tools } = await client.listTools()
        assert.isAbove(tools.length, 30)
        const results = await Promise.all(
          Array.from({ length: 5 }, () => client.callTool({ name: "gateway_get_health", arguments: {} }))
        )
        for (const { isError } of results) assert.isNotTrue(isError)
        await client.close()
        const refused = await connect("http://127.0.0.1:1").then(
          () => "",
          (error: unknown) => String(error)
        )
        assert.match(refused, /No gateway answers/)
      })
    })
  )
})
