/** Providers of web searches: they have no models to talk to. What a search looks like there is in `wire/search/adapters`. */
import type { SearchAdapterName } from "../../../domain/MediaKind.ts"
import type { ProviderAuth, ProviderSpec } from "../../../domain/Provider.ts"
import { googleKey, local, searchIn, xApiKey } from "./build.ts"

const search = searchIn

/** Below the provider's own address. */
const at = (adapter: SearchAdapterName, path: string): Pick<ProviderSpec, "media"> => ({
  media: { search: { adapter, baseUrl: null, path } }
})

/** The same, where the address has a version that an operator's own may leave out. */
const below = (adapter: SearchAdapterName, baseUrl: string, path: string): Pick<ProviderSpec, "media"> => ({
  media: { search: { adapter, baseUrl, path } }
})

const braveKey: ProviderAuth = { type: "apikey", header: "x-subscription-token", prefix: "" }

const braveApi = "https://api.search.brave.com/res/v1"
const linkupApi = "https://api.linkup.so/v1"
const youApi = "https://ydc-index.io/v1"
const searchApi = "https://www.searchapi.io/api/v1"

export const searchProviders: ReadonlyArray<ProviderSpec> = [
  search("serper", "Serper", "https://google.serper.dev", {
    auth: xApiKey,
    env: ["SERPER_API_KEY"],
    docsUrl: "https://serper.dev",
    ...at("serper", "/{kind}")
  }),
  search("brave", "Brave Search", braveApi, {
    aliases: ["brave-search"],
    auth: braveKey,
    env: ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"],
    docsUrl: "https://api-dashboard.search.brave.com/app/documentation",
    ...below("brave", braveApi, "/{kind}/search")
  }),
  search("exa", "Exa", "https://api.exa.ai", {
    auth: xApiKey,
    env: ["EXA_API_KEY"],
    docsUrl: "https://exa.ai/docs",
    ...at("exa", "/search")
  }),
  search("tavily", "Tavily", "https://api.tavily.com", {
    env: ["TAVILY_API_KEY"],
    docsUrl: "https://docs.tavily.com",
    ...at("tavily", "/search")
  }),
  // The engine is a part of the address: every customer has engines of their own.
  search(
    "google-pse",
    "Google Programmable Search Engine",
    "https://customsearch.googleapis.com/customsearch/v1?cx={cx}",
    {
      aliases: ["google-cse"],
      auth: googleKey,
      docsUrl: "https://developers.google.com/custom-search/v1/overview",
      ...at("google-pse", "")
    }
  ),
  search("linkup", "Linkup", linkupApi, {
    env: ["LINKUP_API_KEY"],
    docsUrl: "https://docs.linkup.so",
    ...below("linkup", linkupApi, "/search")
  }),
  search("searchapi", "SearchApi", searchApi, {
    aliases: ["searchapi-io"],
    env: ["SEARCHAPI_API_KEY"],
    docsUrl: "https://www.searchapi.io/docs/google",
    ...below("searchapi", searchApi, "/search")
  }),
  search("youcom", "You.com", youApi, {
    aliases: ["you"],
    auth: xApiKey,
    env: ["YDC_API_KEY", "YOUCOM_API_KEY"],
    docsUrl: "https://you.com/docs",
    ...below("youcom", youApi, "/search")
  }),
  // On the operator's own machine, or another one of theirs.
  local("searxng", "SearXNG", "http://127.0.0.1:8888", {
    aliases: ["searx"],
    modelsPath: null,
    docsUrl: "https://docs.searxng.org",
    ...at("searxng", "/search")
  })
]
