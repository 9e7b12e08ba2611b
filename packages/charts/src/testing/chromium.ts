// Starts a real Chromium for tests: the installed one, or Debian's package, installed where this is permitted.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';

const run = promisify(execFile);

/** With the usual fonts of Linux: without them, emoji in names would be boxes. */
const packages = ['chromium', 'fonts-inter', 'fonts-noto-color-emoji'];
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Starts the browser.
 * @throws Error with instructions, when there is no Chromium and it cannot be installed
 */
export async function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: installed() ?? (await install()),
    // Chromium's sandbox does not start as root, as in a container.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
}

function installed(): string | undefined {
  return [process.env['CHROMIUM'], ...programs].find(
    (program) => program !== undefined && existsSync(program),
  );
}

async function install(): Promise<string> {
  const advice = `install it with “apt-get install ${packages.join(' ')}”, or name the program of a Chromium in the variable CHROMIUM`;
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new Error(`The browser tests need Chromium: ${advice}.`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // One of several package sources may be unavailable; only the installation must succeed.
  await run('apt-get', ['update'], { env }).catch(() => undefined);
  await run(
    'apt-get',
    ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=600', ...packages],
    { env, maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: unknown) => {
    throw new Error(`The browser tests need Chromium, and apt-get could not install it: ${advice}.`, {
      cause: error,
    });
  });
  const program = installed();
  if (program === undefined) throw new Error(`apt-get installed no Chromium: ${advice}.`);
  return program;
}
