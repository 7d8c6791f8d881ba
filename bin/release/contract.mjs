/**
 * Compares two versions of the API document as a client sees them: what worked with the older one, and would not work with the newer one, is a
 * break. A request that was taken must be taken, and an answer must be one that a client of the older document can read.
 */
const methods = ["get", "put", "post", "delete", "patch", "head", "options"]

const lookUp = (document, schema) => {
  let known = schema ?? {}
  for (let depth = 0; typeof known?.$ref === "string" && depth < 20; depth++) {
    known = known.$ref
      .slice(2)
      .split("/")
      .reduce((at, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], document)
  }
  if (known === true || known === undefined) return {}
  if (!Array.isArray(known.allOf)) return known
  const { allOf, ...own } = known
  const parts = [own, ...allOf.map((part) => lookUp(document, part))]
  return Object.assign({}, ...parts, {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => required ?? [])
  })
}

const variantsOf = (schema) => {
  if (Array.isArray(schema.anyOf ?? schema.oneOf)) {
    const { anyOf, oneOf, ...own } = schema
    return (anyOf ?? oneOf).map((variant) => ("$ref" in variant ? variant : Object.assign({}, own, variant)))
  }
  if (Array.isArray(schema.type)) return schema.type.map((type) => ({ ...schema, type }))
  return null
}

const valuesOf = (schema) => ("const" in schema ? [schema.const] : (schema.enum ?? null))

const typeFits = (from, to) =>
  to.type === undefined || from.type === to.type || (from.type === "integer" && to.type === "number")

/** Bounds that `to` sets tighter than `from`. */
const lowest = ["minimum", "minLength", "minItems", "minProperties", "exclusiveMinimum"]
const highest = ["maximum", "maxLength", "maxItems", "maxProperties", "exclusiveMaximum"]
const tighter = (from, to) => [
  ...lowest.filter((name) => typeof to[name] === "number" && !(from[name] >= to[name])),
  ...highest.filter((name) => typeof to[name] === "number" && !(from[name] <= to[name]))
]

/**
 * Returns why a value of `from` may be none of `to`. `older` and `newer` are the documents that references are looked up in, by side; `tolerant`
 * readers overlook fields that they do not know, and the bounds of what they get.
 */
const misfits = (check, given, wanted, path, depth = 0) => {
  const from = lookUp(check.fromDocument, given)
  const to = lookUp(check.toDocument, wanted)
  const pair = `${JSON.stringify(given)} ${JSON.stringify(wanted)}`
  if (depth > 40 || check.seen.has(pair)) return []
  check.seen.add(pair)
  const at = path === "" ? "the body" : path
  const within = (one, other, name) => misfits(check, one, other, path === "" ? name : `${path}.${name}`, depth + 1)

  const values = valuesOf(from)
  const taken = valuesOf(to)
  const variants = values === null ? variantsOf(from) : null
  if (variants !== null) return variants.flatMap((variant) => misfits(check, variant, wanted, path, depth + 1))
  const choices = variantsOf(to)
  if (choices !== null) {
    const tried = choices.map((choice) =>
      misfits({ ...check, seen: new Set(check.seen) }, given, choice, path, depth + 1)
    )
    if (tried.some((problems) => problems.length === 0)) return []
    return [tried.toSorted((one, other) => one.length - other.length)[0]?.[0] ?? `${at} has no form that is taken`]
  }
  if (taken !== null) {
    if (values === null) return [`${at} may only be ${taken.map((one) => JSON.stringify(one)).join(", ")}`]
    const lost = values.filter((value) => !taken.includes(value))
    return lost.map((value) => `${at} cannot be ${JSON.stringify(value)}`)
  }
  if (values !== null && to.type !== undefined) {
    const kind = (value) =>
      value === null ? "null" : Number.isInteger(value) && to.type === "integer" ? "integer" : typeof value
    return values.every((value) => kind(value) === to.type) ? [] : [`${at} is ${to.type}`]
  }
  if (!typeFits(from, to)) return [`${at} is ${to.type}, and not ${from.type ?? "anything"}`]
  const problems = check.tolerant ? [] : tighter(from, to).map((name) => `${at} has ${name} ${to[name]}`)
  if (!check.tolerant && to.pattern !== undefined && to.pattern !== from.pattern)
    problems.push(`${at} has another pattern`)
  if (to.items !== undefined && from.items !== undefined) problems.push(...within(from.items, to.items, "[]"))
  return [...problems, ...memberMisfits(check, from, to, at, within)]
}

const memberMisfits = (check, from, to, at, within) => {
  const own = from.properties ?? {}
  const wanted = to.properties ?? {}
  const always = new Set(from.required ?? [])
  const missing = (to.required ?? []).filter((name) => !always.has(name))
  const gone = check.tolerant ? Object.keys(wanted).filter((name) => !(name in own) && !always.has(name)) : []
  const extra = (name, schema) => {
    if (to.additionalProperties === false && !check.tolerant) return [`${at} has no field ${name}`]
    return typeof to.additionalProperties === "object" && !check.tolerant
      ? within(schema, to.additionalProperties, name)
      : []
  }
  return [
    ...[...new Set([...missing, ...(from.additionalProperties === undefined || to.properties ? gone : [])])].map(
      (name) => (check.tolerant ? `${at} may be without the field ${name}` : `${at} must have the field ${name}`)
    ),
    ...Object.entries(own).flatMap(([name, schema]) =>
      name in wanted ? within(schema, wanted[name], name) : extra(name, schema)
    )
  ]
}

const request = (older, newer) => (from, to) =>
  misfits({ fromDocument: older, toDocument: newer, tolerant: false, seen: new Set() }, from, to, "")

const answer = (older, newer) => (from, to) =>
  misfits({ fromDocument: newer, toDocument: older, tolerant: true, seen: new Set() }, to, from, "")

const parametersOf = (document, path, operation) =>
  new Map(
    [...(path.parameters ?? []), ...(operation.parameters ?? [])]
      .map((one) => lookUp(document, one))
      .map((one) => [`${one.in} ${one.name}`, one])
  )

const parameterBreaks = (before, after, takes) => {
  const changed = [...before].flatMap(([key, one]) => {
    const other = after.get(key)
    if (other === undefined) return [`the parameter ${key} is gone`]
    const problems = takes(one.schema, other.schema).map((problem) => `the parameter ${key}: ${problem}`)
    return other.required === true && one.required !== true
      ? [`the parameter ${key} is required`].concat(problems)
      : problems
  })
  const fresh = [...after].filter(([key, one]) => one.required === true && !before.has(key))
  return [...changed, ...fresh.map(([key]) => `there is a new required parameter ${key}`)]
}

const bodyBreaks = (older, newer, before, after) => {
  const one = lookUp(older, before.requestBody)
  const other = lookUp(newer, after.requestBody)
  const required = other.required === true && one.required !== true ? ["the body is required"] : []
  const media = Object.entries(one.content ?? {}).flatMap(([type, { schema }]) => {
    const now = other.content?.[type]
    return now === undefined ? [`${type} is not taken`] : request(older, newer)(schema, now.schema)
  })
  return [...required, ...media]
}

const answerBreaks = (older, newer, before, after) =>
  Object.entries(before.responses ?? {}).flatMap(([status, given]) => {
    const now = after.responses?.[status]
    if (now === undefined) return status.startsWith("2") ? [`there is no answer ${status}`] : []
    return Object.entries(lookUp(older, given).content ?? {}).flatMap(([type, { schema }]) => {
      const content = lookUp(newer, now).content?.[type]
      const problems = content === undefined ? [`is not ${type}`] : answer(older, newer)(schema, content.schema)
      return problems.map((problem) => `answer ${status}: ${problem}`)
    })
  })

/** Returns a sentence for each break between two documents. */
export const contractBreaks = (older, newer) =>
  Object.entries(older.paths ?? {}).flatMap(([path, item]) =>
    methods
      .filter((method) => method in item)
      .flatMap((method) => {
        const label = `${method.toUpperCase()} ${path}`
        const before = item[method]
        const now = newer.paths?.[path]
        const after = now?.[method]
        if (after === undefined) return [`${label} is gone.`]
        return [
          ...parameterBreaks(parametersOf(older, item, before), parametersOf(newer, now, after), request(older, newer)),
          ...bodyBreaks(older, newer, before, after),
          ...answerBreaks(older, newer, before, after)
        ].map((problem) => `${label}: ${problem}.`)
      })
  )

/** Members of the document that say something to people and nothing to programs. */
const words = new Set([
  "description",
  "summary",
  "title",
  "example",
  "examples",
  "externalDocs",
  "tags",
  "info",
  "servers"
])

/** Returns the document without its words, which is what is kept of a released one. */
export const contractOf = (value, isNames = false) => {
  if (Array.isArray(value)) return value.map((one) => contractOf(one))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isNames || !(words.has(name) || name.startsWith("x-")))
      .map(([name, one]) => [
        name,
        contractOf(one, !isNames && (name === "properties" || name === "paths" || name === "schemas"))
      ])
  )
}
