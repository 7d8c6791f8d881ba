/** The forms of the search providers. */
import type { SearchAdapterName } from "../../../../contract/domain/MediaKind.ts"
import type { SearchAdapter } from "../Search.ts"
import { brave } from "./brave.ts"
import { exa } from "./exa.ts"
import { googlePse } from "./google.ts"
import { linkup } from "./linkup.ts"
import { ollama } from "./ollama.ts"
import { perplexity } from "./perplexity.ts"
import { searchapi } from "./searchapi.ts"
import { searxng } from "./searxng.ts"
import { serper } from "./serper.ts"
import { tavily } from "./tavily.ts"
import { youcom } from "./youcom.ts"

export const searchAdapters: Readonly<Record<SearchAdapterName, SearchAdapter>> = {
  serper,
  brave,
  perplexity,
  exa,
  tavily,
  "google-pse": googlePse,
  linkup,
  searchapi,
  youcom,
  searxng,
  ollama
}
