/** Servers of the operator's own: a list, and the page of each. */
import { useLocation } from "preact-iso"
import { providerNodesList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Icon } from "../../../ui/Icon.tsx"
import { Pages } from "../../../ui/parts/Pages.tsx"
import { Table } from "../../../ui/parts/Table.tsx"
import { Prose } from "../../../ui/Prose.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { words as adding } from "../../../words/addProvider.ts"
import { words } from "../../../words/providerModels.ts"

const pageSize = 50
const { columns } = words.nodes

export const Nodes = () => {
  const { query } = useLocation()
  const asked = { limit: pageSize, cursor: query["page"] }
  const nodes = useAnswer({ key: ["nodes", asked], ask: (signal) => providerNodesList({ query: asked, signal }) })
  return (
    <>
      <div class="area-head">
        <p class="quiet">
          <Prose text={words.nodes.hint} />
        </p>
        <a class="button" href={placeOf("providers/add/own")}>
          <Icon name="add" /> {words.nodes.add}
        </a>
      </div>
      <Answered of={nodes} height={200}>
        {({ nextCursor, nodes: page }) =>
          page.length === 0 ? (
            <div class="empty">
              <p>{words.nodes.none}</p>
            </div>
          ) : (
            <div class="card stack">
              <Table
                label={words.nodes.label}
                columns={[columns.name, columns.prefix, columns.type, columns.address, columns.accounts]}
              >
                {page.map(({ baseUrl, id, name, prefix, type }) => (
                  <tr key={id}>
                    <td>
                      <a href={placeOf(`providers/nodes?id=${encodeURIComponent(id)}`)}>{visible(name)}</a>
                    </td>
                    <td>
                      <code>{visible(prefix)}</code>
                    </td>
                    <td>{adding.types[type]}</td>
                    <td>
                      <code>{visible(baseUrl)}</code>
                    </td>
                    <td>
                      <a href={placeOf(`providers?q=${encodeURIComponent(prefix)}`)}>{words.nodes.accounts}</a>
                    </td>
                  </tr>
                ))}
              </Table>
              <Pages name="page" before={query["page"] === undefined ? null : ""} next={nextCursor} />
              <CopyAs call={providerNodesList} />
            </div>
          )
        }
      </Answered>
    </>
  )
}
