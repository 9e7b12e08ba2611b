// The API documentation as one HTML file, made from the OpenAPI document. The file loads nothing from elsewhere.
import { createHash } from 'node:crypto';
import type { JsonSchema } from './json-schemas.js';
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, OpenApiResponse } from './openapi.js';
import { sampleOf } from './sample.js';

export interface DocumentationPage {
  html: string;
  /** The Content-Security-Policy header for the page: it allows the page's own style and script and nothing else. */
  contentSecurityPolicy: string;
}

/** The page that GET /docs answers. It works offline, and without its script, which only adds the search. */
export function documentationPage(document: OpenApiDocument): DocumentationPage {
  const operations = operationsOf(document);
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name)),
  }));
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(document.info.title)} API</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the routes</a>
<header><h1>${text(document.info.title)} <small>API ${text(document.info.version)}</small></h1>
<p><a href="openapi.json">openapi.json</a> · <a href="asyncapi.json">asyncapi.json</a></p></header>
<nav aria-label="Routes">
<div id="search" hidden><label for="query">Search <kbd>/</kbd></label><input id="query" type="search" autocomplete="off" spellcheck="false"><p id="found" role="status"></p></div>
${groups.map(({ name, operations: own }) => `<h2>${text(name)}</h2><ul>${own.map(({ operation, method, path }) => `<li data-for="${attribute(operation.operationId)}"><a href="#${attribute(operation.operationId)}">${badge(method)}<span>${breakable(path)}</span></a></li>`).join('')}</ul>`).join('\n')}
<h2>Schemas</h2><ul>${Object.keys(document.components.schemas)
    .map((name) => `<li><a href="#schema-${attribute(name)}">${text(name)}</a></li>`)
    .join('')}</ul>
</nav>
<main id="content">
<section class="about">${prose(document.info.description)}</section>
${groups.map(({ name, description, operations: own }) => `<section><h2>${text(name)}</h2><p>${text(description)}</p>${own.map((one) => operationHtml(one, document)).join('')}</section>`).join('\n')}
<section><h2>Schemas</h2>${Object.entries(document.components.schemas)
    .map(
      ([name, schema]) =>
        `<article id="schema-${attribute(name)}"><h3>${text(name)}</h3>${schemaHtml(schema)}</article>`,
    )
    .join('')}</section>
</main>
<script>${script}</script>
</body>
</html>
`;
  return {
    html,
    contentSecurityPolicy: [
      "default-src 'none'",
      `style-src '${hashOf(style)}'`,
      `script-src '${hashOf(script)}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}

interface PlacedOperation {
  method: string;
  path: string;
  operation: OpenApiOperation;
}

function operationsOf(document: OpenApiDocument): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function operationHtml({ method, path, operation }: PlacedOperation, document: OpenApiDocument): string {
  const parameters = (operation.parameters ?? []).map((parameter) =>
    '$ref' in parameter ? document.components.parameters[lastOf(parameter.$ref)] : parameter,
  );
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  return `<details class="operation" id="${attribute(operation.operationId)}">
<summary>${badge(method)}<code>${breakable(path)}</code> <span>${text(operation.summary)}</span></summary>
${operation.description === undefined ? '' : `<p>${text(operation.description)}</p>`}
${operation.security.length === 0 ? '<p>Needs no credential.</p>' : ''}
${parametersHtml(parameters.filter((parameter) => parameter !== undefined))}
${bodies.length === 0 ? '' : `<h4>Body</h4>${bodies.map(([type, { schema, example }]) => `<h5>${text(type)}</h5>${schemaHtml(schema)}<pre tabindex="0"><code>${text(written(example))}</code></pre>`).join('')}`}
<h4>Answers</h4>
<dl>${Object.entries(operation.responses)
    .map(([status, response]) => responseHtml(status, response, document))
    .join('')}</dl>
<h4>Example</h4><pre tabindex="0"><code>${text(curlOf({ method, path, operation }, document))}</code></pre>
</details>`;
}

function parametersHtml(parameters: OpenApiParameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><th scope="row"><code>${text(name)}</code></th><td>${place}${required ? ', required' : ''}</td><td>${typeHtml(schema)}${description === undefined ? '' : ` ${text(description)}`}</td></tr>`,
  );
  return `<h4>Parameters</h4><table><tbody>${rows.join('')}</tbody></table>`;
}

function responseHtml(
  status: string,
  response: OpenApiResponse | { $ref: string },
  document: OpenApiDocument,
): string {
  const one = '$ref' in response ? document.components.responses[lastOf(response.$ref)] : response;
  if (!one) return '';
  const [content] = Object.entries(one.content ?? {});
  const isProblem = Number(status) >= 400 && '$ref' in response;
  return `<dt><b class="s${attribute(status.charAt(0))}">${text(status)}</b></dt><dd>${inline(one.description)}${
    content === undefined || isProblem
      ? ''
      : `<div>${content[0] === 'application/json' ? '' : text(content[0])} ${schemaHtml(content[1].schema)}</div>`
  }</dd>`;
}

/** A schema as nested lists; a named schema as a link. */
function schemaHtml(schema: JsonSchema): string {
  const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema.required ?? []) as string[]);
  const items = schema.items as JsonSchema | undefined;
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  const description = typeof schema.description === 'string' ? ` ${text(schema.description)}` : '';
  const nested =
    Object.keys(properties).length > 0
      ? `<ul>${Object.entries(properties)
          .map(
            ([name, property]) =>
              `<li><code>${text(name)}</code>${required.has(name) ? ' <em>required</em>' : ''} ${schemaHtml(property)}</li>`,
          )
          .join('')}</ul>`
      : items
        ? `<ul><li>each: ${schemaHtml(items)}</li></ul>`
        : choices
          ? `<ul>${choices.map((choice) => `<li>${schemaHtml(choice)}</li>`).join('')}</ul>`
          : '';
  return `<span class="type">${typeHtml(schema)}</span>${description}${nested}`;
}

function typeHtml(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') {
    const name = lastOf(schema.$ref);
    return `<a href="#schema-${attribute(name)}">${text(name)}</a>`;
  }
  if ('const' in schema) return `<code>${text(JSON.stringify(schema.const))}</code>`;
  if (Array.isArray(schema.enum))
    return schema.enum.map((value) => `<code>${text(JSON.stringify(value))}</code>`).join(' | ');
  if (schema.anyOf ?? schema.oneOf) return 'one of';
  const type = Array.isArray(schema.type)
    ? schema.type.join(' or ')
    : typeof schema.type === 'string'
      ? schema.type
      : 'any';
  const [low, high] = [
    schema.minimum ?? schema.minLength ?? schema.minItems,
    schema.maximum ?? schema.maxLength ?? schema.maxItems,
  ].map((limit) =>
    typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? String(limit) : '',
  );
  const limits = low === '' && high === '' ? '' : ` ${low ?? ''}…${high ?? ''}`;
  const standard = 'default' in schema ? `, default ${JSON.stringify(schema.default)}` : '';
  return text(`${type}${typeof schema.format === 'string' ? ` (${schema.format})` : ''}${limits}${standard}`);
}

function curlOf({ method, path, operation }: PlacedOperation, document: OpenApiDocument): string {
  const parameters = (operation.parameters ?? []).flatMap((parameter) =>
    '$ref' in parameter ? [] : [parameter],
  );
  const sample = ({ schema }: OpenApiParameter) =>
    encodeURIComponent(String(sampleOf(schema, document.components.schemas)));
  const filled = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((url, parameter) => url.replace(`{${parameter.name}}`, sample(parameter)), path);
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map((parameter) => `${parameter.name}=${sample(parameter)}`)
    .join('&');
  const [body] = Object.entries(operation.requestBody?.content ?? {});
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "$URL${filled}${query && `?${query}`}"`,
    ...(operation.security.length > 0 ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body
      ? [`-H "Content-Type: ${body[0]}"`, `-d '${JSON.stringify(body[1].example).replaceAll("'", "'\\''")}'`]
      : []),
  ].join(' \\\n  ');
}

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}

const attribute = text;

function inline(value: string): string {
  return text(value)
    .replace(/\*\*(.+?)\*\*/g, '<b>$1</b>')
    .replace(/`(.+?)`/g, '<code>$1</code>');
}

/** Paragraphs and lists: the part of Markdown that the descriptions use. */
function prose(value: string): string {
  return value
    .split('\n\n')
    .map((block) =>
      block.startsWith('- ')
        ? `<ul>${block
            .slice(2)
            .split('\n- ')
            .map((item) => `<li>${inline(item)}</li>`)
            .join('')}</ul>`
        : `<p>${inline(block)}</p>`,
    )
    .join('');
}

function written(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example, null, 2);
}

function breakable(path: string): string {
  return text(path).replaceAll('/', '/<wbr>');
}

function badge(method: string): string {
  return `<b class="method ${attribute(method.toLowerCase())}">${text(method)}</b>`;
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function hashOf(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}

const style = `
:root{color-scheme:light dark;--back:light-dark(#fff,#14171c);--soft:light-dark(#f4f6f8,#1d222a);--line:light-dark(#d9dee5,#323a46);--ink:light-dark(#1b2430,#e4e8ee);--dim:light-dark(#566273,#9aa6b5);--link:light-dark(#0a58b5,#7cb5ff)}
*{box-sizing:border-box}html{scroll-padding-top:1rem}
body{margin:0;font:16px/1.5 system-ui,sans-serif;background:var(--back);color:var(--ink);display:grid;grid-template:auto 1fr/19rem minmax(0,1fr)}
header{grid-column:1/-1;padding:1rem 1.5rem;border-bottom:1px solid var(--line);display:flex;justify-content:space-between;align-items:baseline;flex-wrap:wrap}
h1{margin:0;font-size:1.4rem}h1 small{font-weight:400;color:var(--dim)}header p{margin:0}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line);font-size:.85rem}
nav h2{font-size:.8rem;text-transform:uppercase;letter-spacing:.05em;color:var(--dim);margin:1.2rem 0 .3rem}
nav ul{list-style:none;margin:0;padding:0}nav a{display:flex;gap:.5rem;align-items:baseline;padding:.15rem .3rem;border-radius:4px;color:inherit;text-decoration:none;overflow-wrap:anywhere}nav a:hover{background:var(--soft)}
main{padding:1rem 2rem 30vh;max-width:62rem}a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-100rem}.skip:focus{left:1rem;top:1rem;background:var(--back);padding:.5rem}
input{width:100%;font:inherit;padding:.35rem .6rem;border:1px solid var(--line);border-radius:6px;background:var(--soft);color:inherit}
kbd,code,pre{font-family:ui-monospace,monospace;font-size:.88em}pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.8rem;overflow:auto}
details.operation,article{border:1px solid var(--line);border-radius:8px;margin:.6rem 0;padding:0 1rem}article{padding:.2rem 1rem 1rem}
details.operation[open]{padding-bottom:1rem}summary{cursor:pointer;padding:.6rem 0;display:flex;gap:.7rem;align-items:baseline;flex-wrap:wrap}summary span{color:var(--dim)}
.method{font:600 .7rem ui-monospace,monospace;min-width:3.6rem;text-align:center;border-radius:4px;padding:.15rem .3rem;color:#fff;background:#596579}
.get{background:#1a6b3c}.post{background:#0a58b5}.patch,.put{background:#8a5200}.delete{background:#ad1f2d}
h4{margin:1.2rem 0 .3rem}h5{margin:.6rem 0 .2rem;font-weight:600;color:var(--dim)}table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-top:1px solid var(--line);font-weight:400}td:nth-child(2){color:var(--dim);white-space:nowrap}
dl{display:grid;grid-template-columns:3rem 1fr;gap:.3rem .6rem;margin:0}dd{margin:0;min-width:0}.s2{color:light-dark(#1a6b3c,#6fd09a)}.s4,.s5{color:light-dark(#ad1f2d,#ff9aa3)}
.type{color:var(--dim)}em{color:light-dark(#8a5200,#e6b877);font-style:normal;font-size:.85em}ul{padding-left:1.2rem;margin:.2rem 0}
[hidden]{display:none!important}@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border-right:0}main{padding:1rem}}`;

const script = `
const query=document.getElementById('query'),found=document.getElementById('found');
document.getElementById('search').hidden=false;
const all=[...document.querySelectorAll('details.operation')].map(d=>({d,t:d.textContent.toLowerCase(),l:document.querySelector('li[data-for="'+d.id+'"]')}));
query.addEventListener('input',()=>{const words=query.value.toLowerCase().split(/\\s+/).filter(Boolean);let n=0;
for(const {d,t,l} of all){const fits=words.every(w=>t.includes(w));d.hidden=!fits;l.hidden=!fits;n+=fits}
found.textContent=words.length?n+(n===1?' route':' routes'):''});
document.addEventListener('keydown',e=>{if(e.key==='/'&&e.target!==query){e.preventDefault();query.focus()}});
const show=()=>{const d=document.getElementById(decodeURIComponent(location.hash.slice(1)));if(d&&d.tagName==='DETAILS'){d.open=true;d.scrollIntoView()}};
addEventListener('hashchange',show);show();`;
