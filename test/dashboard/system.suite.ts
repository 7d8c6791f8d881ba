/** The view of the system: every operation of the API has a form that sends what was typed and shows what is wrong. */
import { assert, describe, it } from "vitest"
import { browserPath, world } from "./world.ts"

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId?: string
            readonly tags?: ReadonlyArray<string>
            readonly requestBody?: { readonly content: object }
          }
        >
      >
    >
  >
}

/** Operations with a JSON body that are not meant for a form, each with its reason. */
const notMeant: Readonly<Record<string, string>> = {
  Ollama: "models are asked in the playground",
  Inference: "models are asked in the playground",
  "Other paths": "the same operation has a form at its first path"
}

describe.skipIf(browserPath === null)("the view of the system", () => {
  const { enter, gateway, manage } = world()

  it("has every operation with a JSON body, or says why not", async () => {
    const document = (await (await fetch(`${gateway().url}/openapi.json`)).json()) as Document
    const withBody = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).flatMap(({ operationId = "", requestBody, tags = [] }) =>
        requestBody !== undefined && "application/json" in requestBody.content && path.startsWith("/api/")
          ? [{ operationId, tag: tags[0] ?? "" }]
          : []
      )
    )
    assert.isAbove(withBody.length, 110)
    const page = await enter("system/operations")
    await page.getByText(/\d+ operations/).waitFor()
    const listed = new Set(
      await page
        .locator(".operations a")
        .evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split("/").at(-1)))
    )
    const missing = withBody.filter(({ operationId, tag }) => !listed.has(operationId) && !(tag in notMeant))
    assert.deepStrictEqual(missing, [])
  })

  it("creates a key by its form, and shows the secret this once", async () => {
    const page = await enter("system/keysCreate")
    await page.locator("#field-name").fill("from a form")
    await page.locator("#field-allowedModels").fill("openai/*\n*mini*")
    await page.locator("#field-maxRequestsPerDay").fill("500")
    await page.getByRole("button", { name: "Create an API key" }).click()
    await page.getByText("The answer: 201").waitFor()
    assert.match(await page.locator(".answer").innerText(), /"secret": "gw_/)
    const { keys } = await manage<{ keys: ReadonlyArray<Record<string, unknown>> }>("GET", "/api/keys")
    const made = keys.find(({ name }) => name === "from a form")
    assert.deepInclude(made, { allowedModels: ["openai/*", "*mini*"], maxRequestsPerDay: 500 })
  })

  it("shows a problem beside its field, in the words of the API", async () => {
    const page = await enter("system/keysCreate")
    await page.getByRole("button", { name: "Create an API key" }).click()
    await page.getByRole("alert").filter({ hasText: "name: is missing" }).first().waitFor()
    await page.locator("#field-maxRequestsPerDay").fill("1.5")
    await page.locator("#field-name").fill("half")
    await page.getByRole("button", { name: "Create an API key" }).click()
    const field = page.locator("#field-maxRequestsPerDay")
    await page.waitForFunction(
      () => document.querySelector("#field-maxRequestsPerDay")?.getAttribute("aria-invalid") === "true"
    )
    assert.strictEqual(await field.getAttribute("aria-invalid"), "true")
  })

  it("asks before it removes", async () => {
    const { key } = await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "to go" })
    const page = await enter("system/keysRemove")
    await page.getByLabel("id").fill(key.id)
    const remove = page.getByRole("button", { name: "Delete an API key" })
    await remove.first().click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await dialog.waitFor({ state: "hidden" })
    await remove.first().click()
    await dialog.getByRole("button", { name: "Delete an API key" }).click()
    await page.getByText("The answer: 204").waitFor()
  })

  it("opens each form without a fault", async () => {
    const page = await enter("system/operations")
    await page.getByText(/\d+ operations/).waitFor()
    const links = await page
      .locator(".operations a")
      .evaluateAll((found) => found.map((link) => link.getAttribute("href") ?? ""))
    assert.isAbove(links.length, 250)
    // Every seventh, so that the whole takes seconds; which ones differs as the API grows.
    for (const link of links.filter((_, index) => index % 7 === 0)) {
      await page.locator(`.operations a[href="${link}"]`).click()
      await page.locator("form button[type=submit]").waitFor()
      await page.getByRole("link", { name: "All operations" }).click()
      await page.getByText(/\d+ operations/).waitFor()
    }
  })
})
