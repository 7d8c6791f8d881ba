/** Areas of the system for agents and their tools: MCP, A2A, ACP, skills, coding tools. */
import { assert, describe, it } from "vitest"
import { browserPath, world } from "./world.ts"

describe.skipIf(browserPath === null)("the areas for agents and tools", () => {
  const { dataDir, enter, gateway, manage, upstream } = world()

  it("switches the MCP server off and back by undo, and restarts it", async () => {
    const page = await enter("system/mcp")
    await page.getByText(`${gateway().url}/mcp`).waitFor()
    await page.getByRole("button", { name: "Restart" }).click()
    await page.getByText("The MCP server is restarted.").waitFor()
    await page.getByRole("button", { name: "Switch off" }).click()
    await page.getByText("It is off: agents find no tools here.").waitFor()
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByText(`${gateway().url}/mcp`).waitFor()
  })

  it("registers an MCP server, tests it, and removes it after its name was typed", async () => {
    const page = await enter("system/mcp/servers")
    await page.getByText("No server yet. Add one by its address").waitFor()
    await page.getByRole("button", { name: "Add a server" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Name").fill("Wrong Name")
    await dialog.getByLabel("Address").fill("http://127.0.0.1:1/mcp")
    await dialog.getByRole("button", { name: "Add a server" }).click()
    await dialog.getByRole("alert").filter({ hasText: "name" }).waitFor()
    await dialog.getByLabel("Name").fill("docs")
    await dialog.getByRole("button", { name: "Add a server" }).click()
    await dialog.waitFor({ state: "hidden" })
    const row = page.getByRole("row", { name: /^docs/ })
    await row.getByRole("button", { name: "Test" }).click()
    await page.locator(".toast .bad").waitFor()
    await row.getByRole("button", { name: "Remove" }).click()
    await dialog.getByRole("textbox").fill("docs")
    await dialog.getByRole("button", { name: "Remove" }).click()
    await row.waitFor({ state: "detached" })
  })

  it("lists tools with their scopes, and calls with their ends", async () => {
    const page = await enter("system/mcp/tools")
    await page.getByLabel("Search tools").fill("cache_flush")
    const row = page.getByRole("row", { name: /gateway_cache_flush/ })
    await row.getByText("removes").waitFor()
    await row.getByText("write:cache").waitFor()
    await page.getByLabel("Search tools").fill("no such tool")
    await page.getByText("No tool has these words.").waitFor()
    await page.getByRole("link", { name: "Calls" }).click()
    await page.getByText("No call yet.").waitFor()
  })

  it("switches the agent for other agents on, and shows its card", async () => {
    const page = await enter("system/agents")
    await page.getByText("It is off: other agents find nothing here.").waitFor()
    await page.getByRole("button", { name: "Switch on" }).click()
    await page.getByText(`${gateway().url}/a2a`).waitFor()
    await page.getByText("No task in the last five minutes.").waitFor()
    const card = await page.getByRole("link", { name: "Show its card" }).getAttribute("href")
    assert.strictEqual((await fetch(card ?? "")).status, 200)
  })

  it("adds an agent of this machine and removes it after its id was typed", async () => {
    const page = await enter("system/agents")
    await page.getByRole("button", { name: "Look again" }).click()
    await page.getByText("Looked again.").waitFor()
    await page.getByRole("button", { name: "Add an agent" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Id").fill("my-agent")
    await dialog.getByLabel("Program").fill("/bin/true")
    await dialog.getByRole("button", { name: "Add an agent" }).click()
    await dialog.waitFor({ state: "hidden" })
    await page
      .getByRole("row", { name: /my-agent/ })
      .getByRole("button", { name: "Remove" })
      .click()
    await dialog.getByRole("textbox").fill("my-agent")
    await dialog.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("row", { name: /my-agent/ }).waitFor({ state: "detached" })
  })

  it("shows what would be written of the skills and where, writes them, and shows one", async () => {
    const page = await enter("system/skills")
    await page.getByRole("button", { name: "Show what would be written" }).click()
    await page.getByText("Nothing was written.").waitFor()
    await page.getByText(`${dataDir()}/skills`).waitFor()
    await page.getByRole("button", { name: "Write them as files" }).click()
    await page.getByText("The files are in this folder").waitFor()
    await page.getByRole("link", { name: "Commands", exact: true }).click()
    await page.waitForURL(/category=cli/)
    await page
      .getByRole("row", { name: /cli-serve/ })
      .getByRole("link")
      .click()
    await page.getByText("Give it to an agent").waitFor()
    await page.getByText("## Overview").waitFor()
  })

  it("hides coding tools that take no address, and gives the command of each other", async () => {
    const { tools } = await manage<{
      tools: ReadonlyArray<{ id: string; name: string; baseUrlSupport: string; setupCommand: string | null }>
    }>("GET", "/api/cli-tools")
    const page = await enter("system/tools")
    await page.getByRole("link", { name: "Claude Code" }).waitFor()
    const shown = await page
      .locator(".cards h3 a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split("/").at(-1) ?? ""))
    assert.sameMembers(
      shown,
      tools.filter(({ baseUrlSupport }) => baseUrlSupport !== "none").map(({ id }) => id)
    )
    assert.isTrue(tools.some(({ baseUrlSupport }) => baseUrlSupport === "none"))
    await page.goto(`${gateway().url}/dashboard/system/tools/cursor`)
    await page.getByText("There is no such tool, or it takes no address of a gateway.").waitFor()
    await page.getByRole("link", { name: "Claude Code" }).click()
    await page.getByText(`gateway setup-claude --remote '${gateway().url}'`).waitFor()
  })

  it("sets a coding tool up on the gateway's machine, and says how to take it back", async () => {
    const page = await enter("system/tools/claude")
    await page.getByText("not there").waitFor()
    await page.getByRole("button", { name: "Set it up here" }).click()
    // Without a model there is nothing to begin with.
    await page.getByRole("alert").waitFor()
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    await page.getByRole("button", { name: "Set it up here" }).click()
    await page.getByText("It is set up. The key is in:").waitFor()
    await page.getByText("gateway setup-claude --undo").waitFor()
    const { configured } = await manage<{ configured: boolean }>("GET", "/api/cli-tools/claude-settings")
    assert.isTrue(configured)
    assert.notMatch(await page.locator("main").innerText(), /gw_[A-Za-z0-9]{20}/)
  })
})
