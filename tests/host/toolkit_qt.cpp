#include "toolkit.h"

extern "C" {
#include "screen.h"
}

#include <rouse/qt.hpp>

#include <QtCore/QDir>
#include <QtCore/QLibraryInfo>
#include <QtGui/QPainter>
#include <QtWidgets/QApplication>
#include <QtWidgets/QDialog>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QWidget>

#include <cstdio>
#include <cstdlib>
#include <memory>

extern "C" {
extern const char *const toolkit_name;
const char *const toolkit_name = "qt6";
unsigned toolkit_clicks;
}

namespace
{

class Area : public QWidget
{
public:
	unsigned shown = 0;

protected:
	void paintEvent(QPaintEvent *) override
	{
		QPainter(this).fillRect(rect(), QColor(QRgb(toolkit_colour(shown) | 0xff000000)));
	}
};

/* For Wayland it is a package of its own. */
void need_plugin(const char *system)
{
	const QDir plugins(QLibraryInfo::path(QLibraryInfo::PluginsPath) + "/platforms");

	if (!qstrcmp(system, "wayland") && plugins.entryList({"libqwayland*"}).isEmpty()) {
		std::fprintf(stderr, "SKIP: Qt has no plugin for Wayland\n");
		std::exit(77);
	}
}

std::unique_ptr<QApplication> app;
std::unique_ptr<QWidget> window;
Area *area;
QPushButton *button;

} // namespace

void toolkit_open(int *argc, char **argv, rouse_loop *loop)
{
	qputenv("QT_QPA_PLATFORM", qstrcmp(screen_system, "x11") ? screen_system : "xcb");
	qputenv("QT_WAYLAND_DISABLE_WINDOWDECORATION", "1");
	need_plugin(screen_system);
	app = std::make_unique<QApplication>(*argc, argv);
	window = std::make_unique<QWidget>();
	auto *layout = new QHBoxLayout(window.get());
	auto *guest = new rouse::QtGuest(loop, window.get());

	if (guest->error())
		std::abort();
	area = new Area;
	button = new QPushButton("0");
	for (QWidget *half : {static_cast<QWidget *>(area), static_cast<QWidget *>(button)}) {
		half->setFixedSize(TOOLKIT_WIDTH / 2, TOOLKIT_HEIGHT);
		layout->addWidget(half);
	}
	layout->setContentsMargins(0, 0, 0, 0);
	layout->setSpacing(0);
	QObject::connect(button, &QPushButton::clicked, window.get(), [] { toolkit_clicks++; });
	window->move(0, 0);
	if (QGuiApplication::platformName() == "xcb")
		window->show();
	else
		window->showFullScreen();
}

void toolkit_turn(void)
{
	QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

void toolkit_show(unsigned number)
{
	area->shown = number;
	area->update();
	button->setText(QString::number(number));
}

void toolkit_dialog(void)
{
	QDialog dialog(window.get(), Qt::FramelessWindowHint);
	QPushButton close("Close", &dialog);

	close.setFixedSize(TOOLKIT_DIALOG_WIDTH, TOOLKIT_DIALOG_HEIGHT);
	dialog.setFixedSize(TOOLKIT_DIALOG_WIDTH, TOOLKIT_DIALOG_HEIGHT);
	dialog.move(0, 0);
	QObject::connect(&close, &QPushButton::clicked, &dialog, &QDialog::accept);
	dialog.exec();
}

void toolkit_close(void)
{
	window.reset();
	app.reset();
}
