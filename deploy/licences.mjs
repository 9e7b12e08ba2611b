// The licences of packages whose code is in an image, as one text.
import { readdir, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * @param files files of packages; those of this repository are left out
 * @throws Error with the name of a package that states no licence
 */
export async function licencesOf(files) {
  const folders = [...new Set(files.filter((file) => file.includes('/node_modules/')).map(packageFolder))];
  const texts = await Promise.all(folders.toSorted(inOrder).map(licenceOf));
  return [...new Set(texts)].join(`\n${'-'.repeat(80)}\n\n`);
}

/** The folder of the package that a file belongs to: folders within one may have a package.json without a name. */
function packageFolder(file) {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  if (folder === undefined || !existsSync(join(folder, 'package.json')))
    throw new Error(`${file} is in no package`);
  return folder;
}

async function licenceOf(folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice|ofl)/i.test(entry.name))
    .map((entry) => entry.name);
  if (license === undefined && names.length === 0)
    throw new Error(`${name} in ${dirname(folder)} states no licence`);
  const texts = await Promise.all(
    names.toSorted(inOrder).map((file) => readFile(join(folder, file), 'utf8')),
  );
  const by = typeof author === 'string' ? author : author?.name;
  const head = [
    `${name} ${version}`,
    `Licence: ${license ?? 'as below'}`,
    ...(by === undefined ? [] : [`By: ${by}`]),
  ];
  return `${[...head, '', ...texts].join('\n').trimEnd()}\n`;
}

function inOrder(one, other) {
  return one < other ? -1 : 1;
}
