// mete profile: measures this machine.
#include <memory>

#include "commands.h"
#include "model_flags.h"
#include "profile_energy.h"

namespace mete::cli {

void AddProfile(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("profile", "measure this machine: its energy curves");
  auto flags = std::make_shared<ProfileEnergyFlags>();
  CLI::Option* energy = command->add_flag("--energy")->required();
  energy->description("energy and speed of each cluster by frequency, cores and data-reuse rate");
  AddProfileEnergyFlags(*command, energy, *flags);
  AddJsonFlag(*command, context);
  command->footer(
      "Needs an energy meter (powercap/RAPL, a battery, INA or hwmon sensors; 'mete machine' lists them). With the right to set them it\n"
      "measures at several frequencies, and puts all back in the end, on signals, and, after a crash, on its next start. What it finds is\n"
      "for --objective of run and bench.\n"
      "\n"
      "Examples:\n"
      "  mete profile --energy\n"
      "  mete profile --energy --meter package-0 --frequencies 4");
  command->callback([flags, &context] { context.command = [flags, &context] { ProfileEnergy(*flags, context); }; });
}

}  // namespace mete::cli
